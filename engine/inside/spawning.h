// What a zygote and a launcher have in common: the messages that start them and that ask them for
// workers, the clone, and how it is sealed.
#ifndef BELLJAR_ENGINE_INSIDE_SPAWNING_H_
#define BELLJAR_ENGINE_INSIDE_SPAWNING_H_

#include <sys/types.h>

#include <functional>
#include <string>

#include "engine/core/capture_layout.h"
#include "engine/core/flat.h"
#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/core/wire.h"
#include "engine/seal/seal.h"

namespace belljar::inside {

core::Result<std::string> ReceiveStartBytes(int control);
// The start message (seal/start_message.h).
template <typename Start>
core::Result<Start> ReceiveStart(int control) {
  const core::Result<std::string> bytes = ReceiveStartBytes(control);
  if (!bytes) return bytes.error();
  return core::FromFlat<Start>("start message", *bytes);
}

// Answers the start message. `prepared` failed: with its error.
core::Result<void> AnswerStart(int control, const core::Result<void>& prepared);

// What a spawn message asks for.
struct SpawnOrder {
  core::SpawnMessage::Kind kind = core::SpawnMessage::kRun;
  core::UniqueFd socket;
  core::UniqueFd capture_memory;
  core::UniqueFd init_socket;  // of a session
  core::UniqueFd workspace;    // a detached mount; empty: the worker mounts one of its own
};

// How workers are made. `become` does not return. It is called in a clone, or for a single run in
// the caller itself.
struct Spawning {
  bool single_run = false;
  bool sessions = false;  // whether there are spawn messages for them
  std::function<void(SpawnOrder)> become;
  std::function<void()> before_clone = [] {};
  std::function<void()> after_clone = [] {};  // in the caller, before it answers
};
// Serves spawn messages until the host closes `control`: ok, or the error that ended it.
core::Result<void> ServeSpawns(int control, const seal::SealPlan& plan, const Spawning& spawning);

// What a worker has before it knows its request. All borrowed.
struct UnsealedWorker {
  const seal::SealPlan& plan;
  const seal::PreparedSeal& prepared;
  core::CaptureLayout layout;
};
struct SealedWorker {
  seal::WorkerResources resources;
  seal::SelfReport self_report = 0;
};
// Maps the capture, which then takes output, and seals the worker; tells the host and exits if that
// fails. Of the order, the socket is left.
SealedWorker SealThisWorker(const UnsealedWorker& worker, SpawnOrder& order);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_SPAWNING_H_
