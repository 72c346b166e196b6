// A lock between processes and threads of this user: of many that are about to make the same, one
// does.
#ifndef BELLJAR_CONTAINER_PACKAGES_FILE_LOCK_H_
#define BELLJAR_CONTAINER_PACKAGES_FILE_LOCK_H_

#include <string>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/core/socket.h"

namespace belljar::container::packages {

// How long to wait for whoever has it.
struct LockWait {
  core::Deadline deadline;
  int cancel_fd = -1;  // borrowed; becoming readable ends it
};

// Held as long as the descriptor lives; the file stays. ETIMEDOUT and ECANCELED: by `wait`.
core::Result<core::UniqueFd> LockFile(const std::string& path, const LockWait& wait);

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_FILE_LOCK_H_
