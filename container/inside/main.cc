// belljar-guest: the engine in a container, for one run of the Belljar outside.
//
//   belljar-guest [--profile NAME | --language NAME] [--isolation standard|strict]
//                 [--policy on|off]
//
// Its standard input and output are the channel to the host (container/wire/frame.h). Users run
// `belljar run --container` instead.
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "container/inside/guest.h"
#include "container/inside/init.h"

namespace belljar::container::inside {
namespace {

constexpr char kUsage[] =
    "usage: belljar-guest [--profile NAME | --language NAME]\n"
    "                     [--isolation standard|strict] [--policy on|off]\n"
    "It serves one run to the Belljar that started it, over standard input and output; people\n"
    "start: belljar run --container\n";

// False: an unknown option or value.
bool TakeOption(std::string_view name, std::string_view value, GuestOptions& options) {
  if (name == "--profile" || name == "--language") {
    options.profile = value;
    options.is_language = name == "--language";
    return !value.empty();
  }
  if (name == "--isolation") {
    options.isolation =
        value == "strict" ? outside::IsolationMode::kStrict : outside::IsolationMode::kStandard;
    return value == "strict" || value == "standard";
  }
  if (name == "--policy") {
    options.policy = value == "off" ? outside::Policy::kOff : outside::Policy::kOn;
    return value == "off" || value == "on";
  }
  return false;
}

std::optional<GuestOptions> ParseOptions(int count, char** arguments) {
  GuestOptions options;
  for (int i = 1; i < count; i += 2) {
    if (i + 1 >= count || !TakeOption(arguments[i], arguments[i + 1], options)) {
      return std::nullopt;
    }
  }
  return options;
}

// Reserves standard input and output for the channel: anything else written to them, such as a
// library's message, would be taken for frames.
core::Result<wire::Channel> TakeChannel() {
  core::UniqueFd in(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  core::UniqueFd out(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!in || !out) return core::SystemError("take standard input and output");
  const core::UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return core::SystemError("open /dev/null");
  if (dup2(null.get(), STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    return core::SystemError("take standard input and output");
  }
  return wire::Channel::OfPipes(std::move(in), std::move(out));
}

int Main(int count, char** arguments) {
  std::optional<GuestOptions> options = ParseOptions(count, arguments);
  if (!options) {
    fputs(kUsage, stderr);
    return kGuestMisused;
  }
  // Programs of other languages have the same user, and may see /proc.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  options->owns_pid_namespace = BecomeInitIfFirst();
  signal(SIGPIPE, SIG_IGN);
  // One heap for all threads: memory that one of them has touched is warm for the others.
  mallopt(M_ARENA_MAX, 1);
  core::Result<wire::Channel> channel = TakeChannel();
  if (!channel) {
    fprintf(stderr, "belljar-guest: %s\n", channel.error().ToString().c_str());
    return kGuestMisused;
  }
  return ServeHost(*options, std::move(*channel));
}

}  // namespace
}  // namespace belljar::container::inside

int main(int count, char** arguments) { return belljar::container::inside::Main(count, arguments); }
