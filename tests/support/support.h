// Shared by the C++ tests: the shipped profile, a sandbox for it, forked children whose exit is
// checked, and a look at leftover processes.
#ifndef BELLJAR_TESTS_SUPPORT_SUPPORT_H_
#define BELLJAR_TESTS_SUPPORT_SUPPORT_H_

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/outside/sandbox.h"

namespace belljar::tests {

// With BELLJAR_MUST_WORK=1, tests fail instead of skipping when the machine lacks something.
bool MustWork();
#define BELLJAR_SKIP_OR_FAIL(reason)                    \
  do {                                                  \
    if (belljar::tests::MustWork()) FAIL() << (reason); \
    GTEST_SKIP() << (reason);                           \
  } while (false)

// True in the asan preset, whose shadow memory and slowness affect some assertions.
bool Sanitized();
// True in the tsan preset, whose runtime has threads of its own.
bool ThreadSanitized();

// What cannot go on ends the test: GoogleTest reports what is thrown.
template <typename T>
T Had(core::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().ToString());
  return std::move(*result);
}

// The profile "basic" of this build; aborts if it cannot be loaded, since all tests depend on it
// (profiles_test reports why).
core::Profile BasicProfile();
// Another of this build's, likewise.
core::Profile ShippedProfile(const std::string& name);

// Basic, strict, all of Python: most tests here are about processes, not about the policy.
outside::SandboxOptions FullPython();

// Fails the test and returns null if it cannot be opened.
std::unique_ptr<outside::Sandbox> Open(outside::SandboxOptions options);

// The end of a program that lives until it is killed: BELLJAR_UNTIL_KILLED, after a newline.
#define BELLJAR_UNTIL_KILLED "import time\nwhile True: time.sleep(1000)\n"  // sleeps: that is it

host::Request MakeRequest(std::string source,
                          std::chrono::milliseconds timeout = std::chrono::seconds(20));

// How a forked child ended.
struct Death {
  int exit_code = -1;  // if it exited
  int signal = 0;      // if it was killed
};
bool operator==(const Death& a, const Death& b);
std::ostream& operator<<(std::ostream& out, const Death& death);
inline Death Exited(int code) { return {code, 0}; }
inline Death KilledBy(int signal) { return {-1, signal}; }

// Forks, runs `body` in the child, exits with its return value, and reaps the child. Exceptions and
// output of `body` are lost: the result is its exit code (up to 255) or the signal.
Death InChild(const std::function<int()>& body);

// The same as a user that may have `max` more threads or processes. Requires root.
Death WithThreads(unsigned max, const std::function<int()>& body);

// What a run shows while it runs.
struct Shown {
  Shown() {
    sink.on_stdout = [this](std::string_view bytes) { out += bytes; };
    sink.on_stderr = [this](std::string_view bytes) { err += bytes; };
  }
  std::string out, err;
  run::OutputSink sink;
};

// One line of /proc/<pid>/stat.
struct ProcessEntry {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = '?';
  std::string name;
};
std::vector<ProcessEntry> Processes();
// Children of this process, including zombies.
std::vector<ProcessEntry> Children();
// Children that wait for a request, without the zygotes.
std::vector<pid_t> WorkersOf(const outside::Sandbox& sandbox);

// How tests treat time. They wait for events, by Eventually, whose deadline only a hang reaches;
// they let code that has a clock of its own read theirs; they assert how long something took only
// where nothing else can tell, and then by Within. tests/repository/test_clocks.py finds other
// readings of the clock, and sleeps without a reason.
//
// True as soon as `condition` is, which it asks every 5 ms; false after Hang().
bool Eventually(const std::function<bool()>& condition);
// What never takes that long on a working machine, however busy: shorter than ctest's own limit.
std::chrono::seconds Hang();
// The time in which a machine as slow as this one is now does what an idle one does in `time`: as
// much longer as this build is slower, and as a thread of this process waits for a processor. Takes
// some 20 ms.
//
//   EXPECT_LT(core::Clock::now() - start, tests::Within(seconds(5)));
std::chrono::milliseconds Within(std::chrono::milliseconds time);
// Blocks until the pool is full again.
bool WaitForSpares(const outside::Sandbox& sandbox, size_t spares);

size_t OpenDescriptors();
size_t Mounts();
// Number of mappings of this process whose name contains `name`.
size_t MappingsNamed(const std::string& name);

// A folder, initially empty, that is removed with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }
  // Returns the path of the new file.
  std::string Write(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_SUPPORT_SUPPORT_H_
