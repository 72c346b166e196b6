// --timeout, --cpu, --memory, --max-output: the limits of one run; --input-timeout: that of a
// person.
#ifndef BELLJAR_CLI_LIMIT_OPTIONS_H_
#define BELLJAR_CLI_LIMIT_OPTIONS_H_

#include <chrono>
#include <optional>
#include <string>

#include "cli/option_table.h"
#include "engine/core/limits.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"

namespace belljar::cli {

struct LimitOptions {
  std::optional<std::string> timeout;
  std::optional<std::string> cpu;
  std::optional<std::string> memory;
  std::optional<std::string> output;
};

void AddLimitOptions(CLI::App* parser, LimitOptions& options);

// How long a program waits at a terminal for a line (terminal_input.h).
void AddInputTimeout(CLI::App* parser, std::optional<std::string>& text);
core::Result<std::chrono::milliseconds> ResolveInputTimeout(const std::optional<std::string>& text);

// The profile's defaults, overridden by the options. A malformed, zero or too large value is an
// error that names the option and the expected form.
core::Result<core::Limits> ResolveLimits(const LimitOptions& options, const core::Profile& profile);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_LIMIT_OPTIONS_H_
