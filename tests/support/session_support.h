// For tests of sessions: the processes of each, as the kernel counts them, and a fixture that opens
// them.
#ifndef BELLJAR_TESTS_SUPPORT_SESSION_SUPPORT_H_
#define BELLJAR_TESTS_SUPPORT_SESSION_SUPPORT_H_

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/host/outcome.h"
#include "engine/installation/installation.h"
#include "engine/outside/probe.h"
#include "engine/outside/sandbox.h"
#include "engine/profiles/loader.h"
#include "engine/sessions/session.h"
#include "engine/workers/observe.h"
#include "tests/support/support.h"

namespace belljar::tests {

// Descendants of this process, zombies included.
inline std::vector<ProcessEntry> Descendants() {
  const std::vector<ProcessEntry> all = Processes();
  std::set<pid_t> ours{getpid()};
  for (bool found = true; found;) {
    found = false;
    for (const ProcessEntry& each : all) {
      if (ours.contains(each.parent)) found |= ours.insert(each.pid).second;
    }
  }
  std::vector<ProcessEntry> descendants = all;
  std::erase_if(descendants, [&](const ProcessEntry& each) {
    return each.pid == getpid() || !ours.contains(each.pid);
  });
  return descendants;
}

inline std::string Describe(const std::vector<ProcessEntry>& processes) {
  std::string text = std::to_string(processes.size()) + " processes\n";
  for (const ProcessEntry& each : processes) {
    if (text.size() > 1000) return text + "…\n";
    text += std::to_string(each.pid) + " of " + std::to_string(each.parent) + " " + each.name +
            " " + each.state + "\n";
  }
  return text;
}

// Children of a session's init: its worker, its checkpoints, its branches' and what a guest cloned.
inline std::vector<pid_t> MembersOf(pid_t init) {
  std::vector<pid_t> members;
  for (const ProcessEntry& each : Processes()) {
    if (each.parent == init) members.push_back(each.pid);
  }
  return members;
}

inline bool IsAlive(pid_t pid) {
  for (const ProcessEntry& each : Processes()) {
    if (each.pid == pid) return each.state != 'Z';
  }
  return false;
}

// User and system time of a process, in clock ticks.
inline uint64_t CpuTicks(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream rest(line.substr(std::min(line.size(), line.rfind(')') + 1)));
  std::string field;
  uint64_t user = 0, system = 0;
  for (int i = 0; i < 11; ++i) rest >> field;  // state is field 3, utime field 14
  rest >> user >> system;
  return user + system;
}

// The number of a system call of this architecture, as text.
#define BELLJAR_NUMBER(call) BELLJAR_TEXT_OF(call)
#define BELLJAR_TEXT_OF(number) #number

// What a control or an attack may use: a raw system call, and numbers of such.
inline constexpr char kRawCalls[] = "NR = {'clone': " BELLJAR_NUMBER(SYS_clone)
    ", 'clone3': " BELLJAR_NUMBER(SYS_clone3) ", 'prlimit64': " BELLJAR_NUMBER(SYS_prlimit64)
    ", 'process_vm_readv': " BELLJAR_NUMBER(SYS_process_vm_readv)
    ", 'process_vm_writev': " BELLJAR_NUMBER(SYS_process_vm_writev)
    ", 'ptrace': " BELLJAR_NUMBER(SYS_ptrace) ", 'tgkill': " BELLJAR_NUMBER(SYS_tgkill) R"(}
import ctypes, errno, os, signal, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    ctypes.set_errno(0)
    returned = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in arguments])
    if returned == -1 and ctypes.get_errno():
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return returned
def won(*what):
    print("WON", *what, flush=True)
def held(error):
    print("held", errno.errorcode.get(error.errno, error.errno), flush=True)
)";

// The same text in plain Python, which nothing holds: what it printed. `wrapper`: a command before
// it, such as unshare.
inline std::string RunPlainly(const std::string& source, const std::string& wrapper = "") {
  const TemporaryFolder folder;
  const std::string file = folder.Write("control.py", source);
  // With another process between: what becomes its child there goes with it.
  const std::string command = "cd " + folder.path() + " && timeout 60 " + wrapper +
                              " sh -c '/usr/bin/python3 -I " + file + "; exit $?' 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) return "";
  std::string text;
  char part[4096];
  for (size_t got; (got = fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, got);
  pclose(pipe);
  return text;
}

// Namespaces of its own, where killing everything hurts nobody.
inline constexpr char kAlone[] =
    "unshare --mount --pid --fork --kill-child --mount-proc --map-root-user";

// Everything of Python, and the modules that reach for the kernel.
inline outside::SandboxOptions AttackSandbox(const std::string& source_directory) {
  core::Result<installation::Installation> installation = installation::Installation::Find();
  if (!installation) abort();
  core::Result<core::Profile> profile =
      profiles::LoadProfile(source_directory + "/tests/jail/attack.toml", installation->profiles);
  if (!profile) abort();
  outside::SandboxOptions options = FullPython();
  options.profile = std::move(*profile);
  options.spares = 0;
  return options;
}

// No spares, so that each child but the zygote is the init of a session.
class SessionsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!outside::ProbeNamespaces()) BELLJAR_SKIP_OR_FAIL("needs user namespaces");
    outside::SandboxOptions options = Options();
    options.spares = 0;
    sandbox_ = Open(std::move(options));
    ASSERT_TRUE(sandbox_);
  }

  virtual outside::SandboxOptions Options() { return FullPython(); }

  sessions::SessionOptions Limited(size_t checkpoints = 16) const {
    sessions::SessionOptions options;
    options.limits = sandbox_->profile().default_limits;
    options.checkpoints = checkpoints;
    return options;
  }

  std::shared_ptr<sessions::Session> OpenSession(const sessions::SessionOptions& options) {
    std::set<pid_t> before;
    for (const ProcessEntry& each : Children()) before.insert(each.pid);
    auto session = sandbox_->OpenSession(options);
    if (!session) {
      ADD_FAILURE() << session.error().ToString();
      return nullptr;
    }
    for (const ProcessEntry& each : Children()) {
      if (before.contains(each.pid) || each.pid == sandbox_->counters().zygote_pid) continue;
      inits_[session->get()] = each.pid;
    }
    AwaitIdle(**session);
    return std::move(*session);
  }
  std::shared_ptr<sessions::Session> OpenSession(size_t checkpoints = 16) {
    return OpenSession(Limited(checkpoints));
  }

  pid_t InitOf(const sessions::Session& session) const {
    const auto found = inits_.find(&session);
    return found == inits_.end() ? -1 : found->second;
  }

  // What a call leaves for later has been done.
  static void AwaitIdle(const sessions::Session& session) {
    EXPECT_TRUE(Eventually([&] { return !session.info().is_busy || !session.closed().empty(); }));
  }

  // For cells that should end by themselves, or be ended by something else.
  static constexpr std::chrono::seconds kTimeout{30};

  host::Request Cell(std::string source, std::chrono::milliseconds timeout = kTimeout) const {
    host::Request request;
    request.source = std::move(source);
    request.limits = sandbox_->profile().default_limits;
    request.limits.timeout = timeout;
    return request;
  }

  host::Outcome Run(sessions::Session& session, std::string source,
                    std::chrono::milliseconds timeout = kTimeout) {
    auto outcome = sandbox_->RunCell(session, Cell(std::move(source), timeout));
    if (!outcome) {
      ADD_FAILURE() << outcome.error().ToString();
      return {};
    }
    return std::move(*outcome);
  }

  std::string Value(sessions::Session& session, std::string source) {
    const host::Outcome outcome = Run(session, std::move(source));
    if (outcome.error) return outcome.error->type + ": " + outcome.error->message;
    return outcome.result_json.value_or("none");
  }

  // No more than its worker and its checkpoints; of a session without branches. Fewer: one of them
  // has died, or the session rests.
  void ExpectNoUnexpectedProcesses(const sessions::Session& session) {
    AwaitIdle(session);
    // The kernel takes apart what was killed.
    EXPECT_TRUE(Eventually([&] {
      return MembersOf(InitOf(session)).size() <= 1 + session.info().checkpoints;
    })) << session.info().checkpoints
        << " checkpoints: " << Describe(Descendants());
  }

  // Waits for the kernel to take apart what was killed.
  static void ExpectNothingOf(pid_t init) {
    EXPECT_TRUE(Eventually([&] { return !IsAlive(init) && MembersOf(init).empty(); }))
        << Describe(Descendants());
  }

  std::unique_ptr<outside::Sandbox> sandbox_;
  std::map<const sessions::Session*, pid_t> inits_;
};

inline std::string EventsOf(const host::Outcome& outcome) {
  std::string text;
  for (const host::SecurityEvent& each : outcome.security_events) {
    text += (text.empty() ? "" : "; ") + each.layer + " " + each.action + " " + each.detail;
  }
  return text;
}

inline std::string NoteOf(const host::Outcome& outcome) {
  return outcome.session ? outcome.session->note : "no session";
}

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_SUPPORT_SESSION_SUPPORT_H_
