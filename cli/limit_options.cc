#include "cli/limit_options.h"

#include "cli/console.h"
#include "engine/core/text.h"

namespace belljar::cli {
namespace {

using Milliseconds = std::chrono::milliseconds;

core::Error OverMaximum(const char* option, const std::string& requested,
                        const std::string& maximum, const core::Profile& profile) {
  return core::MakeError(std::string(option) + " " + requested,
                         "the maximum of profile " + profile.name + " is " + maximum);
}

core::Result<Milliseconds> ReadDuration(const char* option, const std::string& text,
                                        Milliseconds maximum, const core::Profile& profile) {
  core::Result<Milliseconds> duration = core::ParseDuration(text);
  if (!duration) {
    return core::MakeError(std::string(option) + " " + core::Quoted(text), duration.error().detail);
  }
  if (*duration > maximum) {
    return OverMaximum(option, core::FormatDuration(*duration), core::FormatDuration(maximum),
                       profile);
  }
  return duration;
}

core::Result<core::Bytes> ReadSize(const char* option, const std::string& text, core::Bytes maximum,
                                   const core::Profile& profile) {
  core::Result<core::Bytes> size = core::Bytes::Parse(text);
  if (!size)
    return core::MakeError(std::string(option) + " " + core::Quoted(text), size.error().detail);
  if (size->count == 0) {
    return core::MakeError(std::string(option) + " " + core::Quoted(text),
                           "the size must be greater than zero");
  }
  if (*size > maximum) return OverMaximum(option, size->ToString(), maximum.ToString(), profile);
  return size;
}

}  // namespace

void AddLimitOptions(CLI::App* parser, LimitOptions& options) {
  AddText(parser, "--timeout", options.timeout, "TIME",
          "wall clock: 30, 1.5, 500ms or 2m (default: the profile's; basic: 30s)");
  AddText(parser, "--cpu", options.cpu, "TIME",
          "CPU time (default: the value of --timeout, if given; else the profile's)");
  AddText(parser, "--memory", options.memory, "SIZE",
          "memory: 64m, 1g (default: the profile's; basic: 256m)");
  AddText(parser, "--max-output", options.output, "SIZE",
          "limit for stdout and for stderr, each; further output is discarded and counted "
          "(default: the profile's; basic: 1m)");
}

void AddInputTimeout(CLI::App* parser, std::optional<std::string>& text) {
  AddText(parser, "--input-timeout", text, "TIME",
          "at a terminal: longest wait for a line of input, during which --timeout stands still "
          "(default: 10m)");
}

core::Result<Milliseconds> ResolveInputTimeout(const std::optional<std::string>& text) {
  constexpr Milliseconds kDefault = std::chrono::minutes(10);
  if (!text) return kDefault;
  core::Result<Milliseconds> duration = core::ParseDuration(*text);
  if (duration) return duration;
  return core::MakeError("--input-timeout " + core::Quoted(*text), duration.error().detail);
}

core::Result<core::Limits> ResolveLimits(const LimitOptions& options,
                                         const core::Profile& profile) {
  const core::Limits& maximum = profile.maximum_limits;
  core::RequestedLimits requested;
  if (options.timeout) {
    auto timeout = ReadDuration("--timeout", *options.timeout, maximum.timeout, profile);
    if (!timeout) return timeout.error();
    requested.timeout = *timeout;
  }
  if (options.cpu) {
    auto cpu = ReadDuration("--cpu", *options.cpu, maximum.cpu, profile);
    if (!cpu) return cpu.error();
    requested.cpu = *cpu;
  }
  if (options.memory) {
    core::Result<core::Bytes> memory =
        ReadSize("--memory", *options.memory, maximum.memory, profile);
    if (!memory) return memory.error();
    requested.memory = *memory;
  }
  if (options.output) {
    core::Result<core::Bytes> output =
        ReadSize("--max-output", *options.output, maximum.output, profile);
    if (!output) return output.error();
    requested.output = *output;
  }
  return core::WithRequested(profile.default_limits, maximum, requested);
}

}  // namespace belljar::cli
