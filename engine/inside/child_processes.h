// Starting, counting and ending the children of this process.
#ifndef BELLJAR_ENGINE_INSIDE_CHILD_PROCESSES_H_
#define BELLJAR_ENGINE_INSIDE_CHILD_PROCESSES_H_

#include <sys/time.h>

#include <cstdint>
#include <string>
#include <vector>

namespace belljar::inside {

// As execve(2) wants them. Borrowed.
std::vector<char*> Pointers(const std::vector<std::string>& texts);

uint64_t Microseconds(const timeval& time);

// Sends SIGKILL to each. False: there are none, or the kernel does not tell them.
bool KillChildren();

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_CHILD_PROCESSES_H_
