// Guest: the whole life of belljar-guest. One sandbox, and one request with its outcome, or one
// session with many.
//
//   host ──▶ container (PID 1) ──▶ belljar-guest ──▶ zygote ──▶ worker: the program
//
// It is the engine as on any machine, with all layers that the container allows, and a channel in
// place of a caller. The host trusts nothing in it once the program runs.
#ifndef BELLJAR_CONTAINER_INSIDE_GUEST_H_
#define BELLJAR_CONTAINER_INSIDE_GUEST_H_

#include <string>

#include "container/wire/channel.h"
#include "engine/outside/sandbox.h"

namespace belljar::container::inside {

struct GuestOptions {
  std::string profile = "basic";  // a name, or a file in the image
  bool is_language = false;       // it names a language besides Python
  // Nothing but the first process of this PID namespace and what this one starts is in it.
  bool owns_pid_namespace = false;
  outside::IsolationMode isolation = outside::IsolationMode::kStandard;
  outside::Policy policy = outside::Policy::kOn;
};

// Exit codes of the program.
inline constexpr int kGuestDone = 0;     // the outcome has been sent, or the host has gone
inline constexpr int kGuestMisused = 2;  // invalid arguments, or no channel
inline constexpr int kGuestFailed = 5;   // a failure has been sent

// Blocks until everything is done; returns the exit code.
int ServeHost(const GuestOptions& options, wire::Channel channel);

}  // namespace belljar::container::inside

#endif  // BELLJAR_CONTAINER_INSIDE_GUEST_H_
