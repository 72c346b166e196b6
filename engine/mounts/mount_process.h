// A mount process: a clone of the host that mounts something in namespaces which the host cannot or
// should not enter itself, and hands out descriptors. It lives for a moment.
//
//   Result<core::Process> process = StartMountProcess(operation, CLONE_NEWUSER, become);
//   Result<MountAnswered> answered = ReceiveMountAnswer(socket, operation);
//
// `become` runs in a copy of a host that has threads: only async-signal-safe calls are allowed, and
// it makes them itself, without ThreadSanitizer (workers/zygote_process.cc).
#ifndef BELLJAR_ENGINE_MOUNTS_MOUNT_PROCESS_H_
#define BELLJAR_ENGINE_MOUNTS_MOUNT_PROCESS_H_

#include <cstdint>
#include <functional>

#include "engine/core/fd.h"
#include "engine/core/process.h"
#include "engine/core/result.h"

namespace belljar::mounts {

// How far it came. `step` is the caller's; 0: done.
struct MountAnswer {
  int32_t step = 0;
  int32_t error_number = 0;
};

// `flags`: CLONE_NEW…. `become` does not return. `operation` is that of errors.
core::Result<core::Process> StartMountProcess(const char* operation, uint64_t flags,
                                              const std::function<void()>& become);

// In it. Sends the answer, with a descriptor unless that is negative.
bool SendMountAnswer(int socket, MountAnswer answer, int descriptor = -1);
// Sends errno, and exits.
[[noreturn]] void FailToMount(int socket, int32_t step);

// Host: the next answer. One with a `step` is for the caller to explain.
struct MountAnswered {
  MountAnswer answer;
  core::UniqueFd descriptor;
};
core::Result<MountAnswered> ReceiveMountAnswer(int socket, const char* operation);

}  // namespace belljar::mounts

#endif  // BELLJAR_ENGINE_MOUNTS_MOUNT_PROCESS_H_
