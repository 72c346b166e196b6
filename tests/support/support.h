// What the C++ tests share: the shipped profile, a sandbox over it, forked children whose death is
// the thing asserted, and a look at what is left running.
#ifndef BELLJAR_TESTS_SUPPORT_SUPPORT_H_
#define BELLJAR_TESTS_SUPPORT_SUPPORT_H_

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/profile.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/outside/sandbox.h"

namespace belljar::tests {

// Where the machine cannot, a test skips; where BELLJAR_MUST_WORK=1 says that it can, it fails.
bool MustWork();
#define BELLJAR_SKIP_OR_FAIL(reason)                    \
  do {                                                  \
    if (belljar::tests::MustWork()) FAIL() << (reason); \
    GTEST_SKIP() << (reason);                           \
  } while (false)

// True in the asan preset: its shadow memory and its slowness change what can be asserted.
bool Sanitized();

// The profile "basic" as this build ships it; aborts where it cannot be loaded, since then no test
// below means anything (profiles_test says why).
core::Profile BasicProfile();

// Basic, strict, all of Python: most tests here are about processes, not about the policy.
outside::SandboxOptions FullPython();

// Fails the test, and returns null, when it does not open.
std::unique_ptr<outside::Sandbox> Open(outside::SandboxOptions options);

host::Request MakeRequest(std::string source,
                          std::chrono::milliseconds timeout = std::chrono::seconds(20));

// How a forked child ended.
struct Death {
  int exit_code = -1;  // of one that exited
  int signal = 0;      // that killed it
};
bool operator==(const Death& a, const Death& b);
std::ostream& operator<<(std::ostream& out, const Death& death);
inline Death Exited(int code) { return {code, 0}; }
inline Death KilledBy(int signal) { return {-1, signal}; }

// Forks, runs `body` there, exits with what it returns, and reaps. What `body` throws or writes is
// lost: it answers by its exit code (up to 255) or by its death.
Death InChild(const std::function<int()>& body);

// One line of /proc/<pid>/stat.
struct ProcessEntry {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = '?';
  std::string name;
};
std::vector<ProcessEntry> Processes();
// Children of this process, dead ones that nobody reaped included.
std::vector<ProcessEntry> Children();
// Children that wait for a request: not the zygote.
std::vector<pid_t> WorkersOf(const outside::Sandbox& sandbox);
// True when `condition` became true in time; looks every 5 ms.
bool Eventually(const std::function<bool()>& condition,
                std::chrono::milliseconds within = std::chrono::seconds(20));
// Blocks until the pool is full again.
bool WaitForSpares(const outside::Sandbox& sandbox, size_t spares);

size_t OpenDescriptors();
size_t Mounts();
// Mappings of this process whose name holds `name`.
size_t MappingsNamed(const std::string& name);

// An empty folder that is removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }
  // Returns the path of the file.
  std::string Write(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_SUPPORT_SUPPORT_H_
