#include "engine/outside/start_over.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/core/text.h"

namespace belljar::outside {
namespace {

constexpr std::string_view kNote =
    "belljar: the program was restarted, because it imports a module that its text does not "
    "name; its output is different now:\n";

bool IsOfWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Calls `found` with each word until that returns true. Returns whether it did.
template <typename Found>
bool FindWord(std::string_view source, Found found) {
  while (!source.empty()) {
    const auto begin = std::ranges::find_if(source, IsOfWord);
    const auto end = std::find_if_not(begin, source.end(), IsOfWord);
    if (begin != end && found(std::string_view(begin, end))) return true;
    source = std::string_view(end, source.end());
  }
  return false;
}

}  // namespace

bool MayStartOver(const core::Profile& profile, const host::Request& request) {
  return request.mode == host::Request::Mode::kRun && request.functions.empty() && !profile.egress;
}

std::vector<std::string> NamedModules(const core::Profile& profile, std::string_view source) {
  std::set<std::string_view> known, named;
  for (const core::ModuleExports& module : profile.modules)
    known.insert(core::TopLevelName(module.name));
  for (const core::PackageSet& set : profile.packages) {
    for (const std::string& module : set.modules) known.insert(core::TopLevelName(module));
  }
  FindWord(source, [&](std::string_view word) {
    if (word == "help") word = "inspect";  // help() shows signatures
    if (const auto found = known.find(word); found != known.end()) named.insert(*found);
    return false;
  });
  return {named.begin(), named.end()};
}

bool NamesAny(const std::set<std::string, std::less<>>& names, std::string_view source) {
  return FindWord(source, [&](std::string_view word) { return names.contains(word); });
}

core::Result<host::Outcome> RunNamedOrComplete(const run::RunOptions& run, const Runner& named,
                                               const Runner& complete) {
  std::optional<OutputOfBoth> output;
  run::RunOptions through = run;
  if (run.sink) through.sink = &output.emplace(*run.sink).sink();
  core::Result<host::Outcome> outcome = named(through);
  if (outcome || outcome.error().cause != core::Cause::kStartOver) return outcome;
  if (output) output->StartOver();
  return complete(through);
}

OutputOfBoth::OutputOfBoth(const run::OutputSink& sink) : sink_(sink) {
  through_.on_stdout = [this](std::string_view bytes) { Show(stdout_, sink_.on_stdout, bytes); };
  through_.on_stderr = [this](std::string_view bytes) { Show(stderr_, sink_.on_stderr, bytes); };
}

void OutputOfBoth::Show(Stream& stream, const std::function<void(std::string_view)>& show,
                        std::string_view bytes) {
  if (!show) return;
  if (!is_second_) {
    stream.shown += bytes;
    return show(bytes);
  }
  if (!stream.differs) {
    const std::string_view left = std::string_view(stream.shown).substr(stream.repeated);
    const size_t both = std::min(left.size(), bytes.size());
    if (left.substr(0, both) == bytes.substr(0, both)) {
      stream.repeated += both;
      bytes.remove_prefix(both);
    } else {
      stream.differs = true;
      if (!std::exchange(has_said_so_, true) && sink_.on_stderr) sink_.on_stderr(kNote);
      show(std::string_view(stream.shown).substr(0, stream.repeated));
    }
  }
  if (!bytes.empty()) show(bytes);
}

}  // namespace belljar::outside
