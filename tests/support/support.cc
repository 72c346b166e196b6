#include "tests/support/support.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "engine/installation/installation.h"
#include "engine/profiles/loader.h"

namespace belljar::tests {

namespace fs = std::filesystem;

bool MustWork() {
  const char* value = getenv("BELLJAR_MUST_WORK");
  return value && std::string(value) == "1";
}

bool Sanitized() {
#ifdef __SANITIZE_ADDRESS__
  return true;
#else
  return false;
#endif
}

bool ThreadSanitized() {
#ifdef __SANITIZE_THREAD__
  return true;
#else
  return false;
#endif
}

core::Profile ShippedProfile(const std::string& name) {
  core::Result<installation::Installation> installation = installation::Installation::Find();
  if (!installation) {
    fprintf(stderr, "%s\n", installation.error().ToString().c_str());
    abort();
  }
  core::Result<core::Profile> profile =
      profiles::LoadProfile(installation->profiles + "/" + name + ".toml", installation->profiles);
  if (!profile) {
    fprintf(stderr, "%s\n", profile.error().ToString().c_str());
    abort();
  }
  return std::move(*profile);
}

core::Profile BasicProfile() {
  static const core::Profile* basic = new core::Profile(ShippedProfile("basic"));
  return *basic;
}

outside::SandboxOptions FullPython() {
  outside::SandboxOptions options;
  options.profile = BasicProfile();
  options.policy = outside::Policy::kOff;
  options.spares = 2;
  return options;
}

std::unique_ptr<outside::Sandbox> Open(outside::SandboxOptions options) {
  core::Result<std::unique_ptr<outside::Sandbox>> sandbox =
      outside::Sandbox::Open(std::move(options));
  if (!sandbox) {
    ADD_FAILURE() << sandbox.error().ToString();
    return nullptr;
  }
  return std::move(*sandbox);
}

host::Request MakeRequest(std::string source, std::chrono::milliseconds timeout) {
  host::Request request;
  request.source = std::move(source);
  request.limits = BasicProfile().default_limits;
  request.limits.timeout = timeout;
  return request;
}

bool operator==(const Death& a, const Death& b) {
  return a.exit_code == b.exit_code && a.signal == b.signal;
}

std::ostream& operator<<(std::ostream& out, const Death& death) {
  if (death.signal != 0) return out << "killed by " << strsignal(death.signal);
  return out << "exit code " << death.exit_code;
}

Death InChild(const std::function<int()>& body) {
  fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) _exit(body());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? Exited(WEXITSTATUS(status)) : KilledBy(WTERMSIG(status));
}

Death WithThreads(unsigned max, const std::function<int()>& body) {
  return InChild([&] {
    // A user of our own: processes of other tests would count, too.
    const uid_t user = 20'000 + static_cast<uid_t>(getpid()) % 40'000;
    const rlimit limit{max + 1, max + 1};
    if (setresuid(user, user, user) != 0 || setrlimit(RLIMIT_NPROC, &limit) != 0) return 99;
    return body();
  });
}

std::vector<ProcessEntry> Processes() {
  std::vector<ProcessEntry> processes;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", code)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    if (!std::getline(file, line)) continue;
    // The name is in parentheses and may contain any character.
    const size_t open = line.find('('), close = line.rfind(')');
    if (open == std::string::npos || close == std::string::npos) continue;
    ProcessEntry process;
    process.pid = std::stoi(name);
    process.name = line.substr(open + 1, close - open - 1);
    std::istringstream rest(line.substr(close + 1));
    rest >> process.state >> process.parent;
    processes.push_back(std::move(process));
  }
  return processes;
}

std::vector<ProcessEntry> Children() {
  std::vector<ProcessEntry> children = Processes();
  std::erase_if(children, [](const ProcessEntry& p) { return p.parent != getpid(); });
  return children;
}

std::vector<pid_t> WorkersOf(const outside::Sandbox& sandbox) {
  const outside::Backend::Counters counters = sandbox.counters();
  std::vector<pid_t> workers;
  for (const ProcessEntry& child : Children()) {
    const bool is_zygote =
        child.pid == counters.zygote_pid || child.pid == counters.light_zygote_pid;
    if (!is_zygote && child.state != 'Z') workers.push_back(child.pid);
  }
  return workers;
}

namespace {

// tests/README.md
double Slowness() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets variables
  const char* value = getenv("BELLJAR_TEST_SLOWNESS");
  return value ? std::max(1.0, atof(value)) : 1;
}

std::chrono::nanoseconds ThreadTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// How many times longer than its processor time a thread takes now.
double Load() {
  const auto start = std::chrono::steady_clock::now();
  const std::chrono::nanoseconds used = ThreadTime();
  while (ThreadTime() - used < std::chrono::milliseconds(20)) {
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return std::max(1.0, took / std::chrono::milliseconds(20));
}

}  // namespace

std::chrono::seconds Hang() {
  return std::chrono::ceil<std::chrono::seconds>(std::chrono::seconds(90) * Slowness());
}

bool Eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + Hang();
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // sleeps: the one poll of all tests
  }
  return true;
}

std::chrono::milliseconds Within(std::chrono::milliseconds time) {
  const double build = ThreadSanitized() ? 10 : Sanitized() ? 4 : 1;
  return std::chrono::ceil<std::chrono::milliseconds>(time * build * Slowness() * Load());
}

bool WaitForSpares(const outside::Sandbox& sandbox, size_t spares) {
  return Eventually([&] { return sandbox.counters().waiting >= spares; });
}

size_t OpenDescriptors() {
  const fs::directory_iterator descriptors("/proc/self/fd");
  // Without the one used to list them.
  return static_cast<size_t>(std::distance(begin(descriptors), end(descriptors))) - 1;
}

size_t Mounts() {
  std::ifstream file("/proc/self/mountinfo");
  size_t lines = 0;
  // Without those of the container engine of other tests (tools/containers), which vary.
  for (std::string line; std::getline(file, line);) lines += line.find("/containers/") == line.npos;
  return lines;
}

size_t MappingsNamed(const std::string& name) {
  std::ifstream file("/proc/self/maps");
  size_t mappings = 0;
  for (std::string line; std::getline(file, line);) mappings += line.find(name) != line.npos;
  return mappings;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = fs::temp_directory_path() / "belljar-test-XXXXXX";
  if (!mkdtemp(pattern.data())) abort();
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code code;
  fs::remove_all(path_, code);
}

std::string TemporaryFolder::Write(const std::string& name, const std::string& content) const {
  const std::string path = path_ + "/" + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

}  // namespace belljar::tests
