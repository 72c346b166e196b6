#include "engine/outside/program_version.h"

#include <string_view>
#include <utility>

#include "engine/core/text.h"
#include "engine/outside/sandbox.h"

namespace belljar::outside {

std::string ProgramVersion(SandboxOptions options) {
  core::ProgramRule& program = *options.profile.program;
  program.command = program.version;
  program.compile.clear();
  program.warm.clear();
  program.reports_value = false;
  options.spares = 1;
  host::Request request;
  request.limits = options.profile.default_limits;
  const core::Result<host::Outcome> outcome = RunOnce(std::move(options), request);
  if (!outcome) return "";
  const std::string text = outcome->stdout_stream.text + " " + outcome->stderr_stream.text;
  for (const std::string_view line : core::SplitAt(text, '\n')) {
    for (std::string_view word : core::SplitAt(line, ' ')) {
      const size_t digit = word.find_first_of("0123456789");
      if (digit == word.npos || word.find('.', digit) == word.npos) continue;
      word.remove_prefix(digit);
      return core::Printable(word.substr(0, word.find_first_not_of("0123456789.")));
    }
  }
  return "";
}

}  // namespace belljar::outside
