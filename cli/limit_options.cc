#include "cli/limit_options.h"

#include "cli/console.h"
#include "engine/core/text.h"

namespace belljar {
namespace {

using Milliseconds = std::chrono::milliseconds;

Error OverMaximum(const char* option, const std::string& asked, const std::string& most,
                  const Profile& profile) {
  return MakeError(std::string(option) + " " + asked,
                   "the maximum of profile " + profile.name + " is " + most);
}

Result<Milliseconds> ReadDuration(const char* option, const std::string& text, Milliseconds most,
                                  const Profile& profile) {
  Result<Milliseconds> duration = ParseDuration(text);
  if (!duration) {
    return MakeError(std::string(option) + " " + Quoted(text), duration.error().detail);
  }
  if (*duration > most) {
    return OverMaximum(option, FormatDuration(*duration), FormatDuration(most), profile);
  }
  return duration;
}

Result<Bytes> ReadSize(const char* option, const std::string& text, Bytes most,
                       const Profile& profile) {
  Result<Bytes> size = Bytes::Parse(text);
  if (!size) return MakeError(std::string(option) + " " + Quoted(text), size.error().detail);
  if (size->count == 0) {
    return MakeError(std::string(option) + " " + Quoted(text), "write a size above zero");
  }
  if (*size > most) return OverMaximum(option, size->ToString(), most.ToString(), profile);
  return size;
}

}  // namespace

void AddLimitOptions(CLI::App* parser, LimitOptions& options) {
  AddText(parser, "--timeout", options.timeout, "TIME",
          "wall clock: 30, 1.5, 500ms or 2m (default: the profile's; basic: 30s)");
  AddText(parser, "--cpu", options.cpu, "TIME",
          "CPU time (default: as --timeout, if that is given; else the profile's)");
  AddText(parser, "--memory", options.memory, "SIZE",
          "memory: 64m, 1g (default: the profile's; basic: 128m)");
  AddText(parser, "--max-output", options.output, "SIZE",
          "of stdout and of stderr; what comes after is dropped and counted (default: the "
          "profile's; basic: 1m)");
}

Result<Limits> ResolveLimits(const LimitOptions& options, const Profile& profile) {
  const Limits& most = profile.maximum_limits;
  AskedLimits asked;
  if (options.timeout) {
    auto timeout = ReadDuration("--timeout", *options.timeout, most.timeout, profile);
    if (!timeout) return timeout.error();
    asked.timeout = *timeout;
  }
  if (options.cpu) {
    auto cpu = ReadDuration("--cpu", *options.cpu, most.cpu, profile);
    if (!cpu) return cpu.error();
    asked.cpu = *cpu;
  }
  if (options.memory) {
    Result<Bytes> memory = ReadSize("--memory", *options.memory, most.memory, profile);
    if (!memory) return memory.error();
    asked.memory = *memory;
  }
  if (options.output) {
    Result<Bytes> output = ReadSize("--max-output", *options.output, most.output, profile);
    if (!output) return output.error();
    asked.output = *output;
  }
  return WithAsked(profile.default_limits, most, asked);
}

}  // namespace belljar
