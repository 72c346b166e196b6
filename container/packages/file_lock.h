// A lock between processes and threads of this user: if several are about to create the same thing,
// one does.
#ifndef BELLJAR_CONTAINER_PACKAGES_FILE_LOCK_H_
#define BELLJAR_CONTAINER_PACKAGES_FILE_LOCK_H_

#include <string>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/core/socket.h"

namespace belljar::container::packages {

// How long to wait for the current holder.
struct LockWait {
  core::Deadline deadline;
  int cancel_fd = -1;  // borrowed; ends the wait once it is readable
};

// Held as long as the descriptor is open; the file stays. ETIMEDOUT and ECANCELED: by `wait`.
core::Result<core::UniqueFd> LockFile(const std::string& path, const LockWait& wait);

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_FILE_LOCK_H_
