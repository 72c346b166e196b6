#include "container/runsc/runsc_engine.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "container/engines/docker_messages.h"
#include "container/engines/output_pump.h"
#include "engine/core/socket.h"
#include "engine/core/text.h"
#include "engine/host/json_reader.h"
#include "engine/host/random.h"
#include "engine/host/scratch_folder.h"

namespace belljar::container::runsc {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using std::chrono::milliseconds;

constexpr size_t kMaxAnswer = 8 << 20;
constexpr host::JsonBounds kStateBounds{.depth = 16, .values = 100'000};
constexpr milliseconds kKillAgain{200};
constexpr int kCpuPeriod = 100'000;  // microseconds

struct Streams {
  int input;
  int output;
  int errors;
};

// A child in its own session, with only these three descriptors: all of ours are close-on-exec.
core::Result<core::Process> Spawn(const std::string& operation,
                                  const std::vector<std::string>& command, const Streams& streams) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, streams.input, 0);
  posix_spawn_file_actions_adddup2(&actions, streams.output, 1);
  posix_spawn_file_actions_adddup2(&actions, streams.errors, 2);
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    return core::SystemErrorOf(
        error, operation + ": start " + command[0],
        error == ENOENT ? "install gVisor's runsc (Debian: apt-get install runsc)" : "");
  }
  core::Process process(pid, core::UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))));
  if (!process)
    return core::MakeError(operation, "no descriptor is available for " + command[0] + " by");
  return process;
}

core::Result<core::UniqueFd> OpenNull() {
  core::UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return core::SystemError("open /dev/null");
  return null;
}

// Reads `fd` until its end.
core::Result<std::string> Collect(const std::string& operation, int fd, core::Deadline deadline) {
  std::string text;
  std::array<char, 16 << 10> buffer;
  for (;;) {
    if (core::Result<void> ready = core::WaitReadable(fd, deadline); !ready) {
      return core::SystemErrorOf(ready.error().error_number, operation, "runsc does not respond");
    }
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0) return core::SystemError(operation);
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
    if (text.size() > kMaxAnswer)
      return core::SystemErrorOf(EMSGSIZE, operation, "runsc printed too much");
  }
}

core::Result<void> CheckId(const std::string& id) {
  if (!engines::IsContainerId(id))
    return core::MakeError("refer to a container", "not a container ID");
  return {};
}

Json Mount(const char* type, const std::string& path, Json options) {
  return {{"type", type}, {"source", type}, {"destination", path}, {"options", std::move(options)}};
}

Json Mounts(const engines::ContainerSpec& spec) {
  Json mounts = {Mount("proc", "/proc", {"nosuid", "noexec", "nodev"})};
  for (const engines::ContainerFolder& folder : spec.folders) {
    const std::string size = "size=" + std::to_string(folder.size.count);
    Json options = {"nosuid", "nodev", "mode=1777", size};
    if (!folder.executable) options.push_back("noexec");
    mounts.push_back(Mount("tmpfs", folder.path, std::move(options)));
  }
  return mounts;
}

Json ResourceLimit(const char* type, uint64_t value) {
  return {{"type", type}, {"soft", value}, {"hard", value}};
}

// Parses "runsc list --format=json": the ids of running containers.
core::Result<std::set<std::string>> ReadRunning(std::string_view text) {
  host::JsonReading reading = host::ReadJson(text, kStateBounds);
  const Json* const list = std::get_if<Json>(&reading);
  if (!list || !(list->is_array() || list->is_null())) {
    return core::MakeError("list containers", "runsc did not print a list");
  }
  std::set<std::string> running;
  for (const Json& item : *list) {
    if (!item.is_object()) continue;
    const auto id = item.find("id");
    const auto status = item.find("status");
    if (id != item.end() && id->is_string() && status != item.end() && *status == "running") {
      running.insert(id->get<std::string>());
    }
  }
  return running;
}

// The labels that BundleConfig wrote; none if a crash left the file incomplete.
std::map<std::string, std::string> LabelsOfBundle(const std::string& bundle) {
  std::map<std::string, std::string> labels;
  core::Result<std::string> text = core::ReadFile(bundle + "/config.json", kMaxAnswer);
  if (!text) return labels;
  host::JsonReading reading = host::ReadJson(*text, kStateBounds);
  const Json* const config = std::get_if<Json>(&reading);
  if (!config || !config->is_object() || !config->contains("annotations")) return labels;
  for (const auto& [name, value] : (*config)["annotations"].items()) {
    if (value.is_string()) labels.emplace(name, value.get<std::string>());
  }
  return labels;
}

// A guest's standard error, read on demand: unread data stays in the socket, and a full socket
// blocks the container.
class Errors {
 public:
  explicit Errors(core::UniqueFd socket) : socket_(std::move(socket)) {}
  std::string Text() {
    const std::lock_guard lock(mutex_);
    std::array<char, 16 << 10> buffer;
    ssize_t got;
    while ((got = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0) {
      tail_.Append({buffer.data(), static_cast<size_t>(got)});
    }
    return tail_.Text();
  }

 private:
  std::mutex mutex_;
  const core::UniqueFd socket_;
  engines::StreamTail tail_;
};

}  // namespace

std::string DefaultRunscFolder() {
  if (geteuid() == 0) return "/var/lib/belljar/runsc";
  // The specification says to ignore relative paths.
  const char* const cache = getenv("XDG_CACHE_HOME");
  if (cache && *cache == '/') return std::string(cache) + "/belljar/runsc";
  const char* const home = getenv("HOME");
  return home && *home == '/' ? std::string(home) + "/.cache/belljar/runsc" : std::string();
}

std::string BundleConfig(const engines::ContainerSpec& spec, const std::string& root,
                         const std::string& id, bool rootless) {
  // Without root, runsc can only be a single user outside, and is root in its own sandbox.
  const uint32_t uid = rootless ? 0 : engines::kContainerUid;
  Json linux_part = {{"namespaces", Json::array()}};
  for (const char* const type : {"pid", "ipc", "uts", "mount", "network"}) {
    linux_part["namespaces"].push_back({{"type", type}});
  }
  if (!rootless) {
    linux_part["cgroupsPath"] = "/belljar/" + id;
    linux_part["resources"] = {
        {"memory", {{"limit", spec.memory.count}, {"swap", spec.memory.count}}},
        {"pids", {{"limit", spec.pids}}},
        {"cpu",
         {{"period", kCpuPeriod},
          {"quota", static_cast<int64_t>(std::llround(spec.cpus * kCpuPeriod))}}}};
  }
  const Json config = {
      {"ociVersion", "1.0.2"},
      {"process",
       {{"terminal", false},
        {"user", {{"uid", uid}, {"gid", uid}}},
        {"args", spec.command},
        {"env", spec.environment},
        {"cwd", spec.working_folder},
        {"capabilities", Json::object()},
        {"rlimits",
         {ResourceLimit("RLIMIT_NOFILE", spec.open_files), ResourceLimit("RLIMIT_CORE", 0)}},
        {"noNewPrivileges", true}}},
      {"root", {{"path", root}, {"readonly", true}}},
      {"hostname", "belljar"},
      {"mounts", Mounts(spec)},
      {"annotations", spec.labels},
      {"linux", std::move(linux_part)},
  };
  return config.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RunscEngine::RunscEngine(RunscEngineOptions options)
    : options_(std::move(options)), store_(options_.folder + "/images") {}

RunscEngine::~RunscEngine() {
  std::vector<std::string> left;
  for (const auto& [id, ignored] : children_) left.push_back(id);
  for (const std::string& id : left) (void)Remove(id);
}

core::UniqueFd RunscEngine::EndOf(const std::string& id, bool killing) {
  const std::lock_guard lock(mutex_);
  const auto found = children_.find(id);
  if (found == children_.end()) return core::UniqueFd();
  if (killing) found->second.killed = true;
  return core::UniqueFd(fcntl(found->second.process.ended_fd(), F_DUPFD_CLOEXEC, 0));
}

std::string RunscEngine::BundleOf(const std::string& id) const {
  return options_.folder + "/bundles/" + id;
}

std::vector<std::string> RunscEngine::Command(std::vector<std::string> arguments) const {
  std::vector<std::string> command = {options_.program, "--root=" + options_.folder + "/state",
                                      "--platform=" + options_.platform, "--network=none"};
  if (options_.rootless) command.insert(command.end(), {"--rootless", "--ignore-cgroups"});
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

// Returns runsc's output; an error if its exit code is not 0.
core::Result<std::string> RunscEngine::RunRunsc(const std::string& operation,
                                                std::vector<std::string> arguments) const {
  const core::Deadline deadline = core::Clock::now() + options_.timeout;
  core::Result<std::pair<core::UniqueFd, core::UniqueFd>> pipe =
      core::CreateSocketPair(SOCK_STREAM);
  if (!pipe) return pipe.error();
  core::Result<core::UniqueFd> null = OpenNull();
  if (!null) return null.error();
  const int end = pipe->second.get();
  core::Result<core::Process> process =
      Spawn(operation, Command(std::move(arguments)), {null->get(), end, end});
  if (!process) return process.error();
  pipe->second.Reset();
  core::Result<std::string> text = Collect(operation, pipe->first.get(), deadline);
  if (!text) return text;
  const core::ExitReport exit = process->Wait();
  if (exit.exit_code != 0) {
    return core::MakeError(operation, "runsc says: " + core::Printable(text->substr(0, 400)));
  }
  return text;
}

core::Result<engines::EngineFacts> RunscEngine::Check() {
  core::Result<std::string> text = RunRunsc("look at runsc", {"--version"});
  if (!text) return text.error();
  engines::EngineFacts facts;
  facts.name = "runsc";
  constexpr std::string_view kBefore = "runsc version ";
  if (text->starts_with(kBefore)) {
    facts.version =
        core::Printable(text->substr(kBefore.size(), text->find('\n') - kBefore.size()));
  }
  facts.runtimes = {"runsc"};
  facts.default_runtime = "runsc";
  facts.rootless = options_.rootless;
  facts.limits_memory = facts.limits_swap = facts.limits_pids = facts.limits_cpu =
      !options_.rootless;
  return facts;
}

core::Result<std::optional<engines::EngineImage>> RunscEngine::FindImage(
    const std::string& reference) {
  return store_.Find(reference);
}

core::Result<std::string> RunscEngine::LoadImage(int tar, const engines::LoadProgress& progress) {
  return store_.Load(tar, progress);
}

core::Result<void> RunscEngine::RemoveImage(const std::string& reference) {
  return store_.Remove(reference);
}

core::Result<engines::StartedContainer> RunscEngine::Start(const engines::ContainerSpec& spec) {
  const std::string operation = "start a container";
  const auto began = core::Clock::now();
  if (!spec.runtime.empty() && spec.runtime != "runsc") {
    return core::MakeError(operation, "standalone runsc has no runtime \"" + spec.runtime + "\"");
  }
  core::Result<std::optional<engines::EngineImage>> image = store_.Find(spec.image);
  if (!image) return image.error();
  if (!*image) {
    return core::MakeError(operation,
                           "there is no image " + core::Quoted(spec.image) +
                               ": build it and load it: belljar image build --load runsc");
  }
  engines::StartedContainer container;
  container.id = core::Hex(host::RandomBytes()) + core::Hex(host::RandomBytes());
  host::ScratchFolder bundle(BundleOf(container.id));
  std::error_code error;
  fs::create_directories(bundle.path(), error);
  if (error) return core::SystemErrorOf(error.value(), operation + ": make " + bundle.path());
  const std::string root = fs::absolute(store_.RootOf(**image)).string();
  core::Result<void> written = WriteNewFile(
      bundle.path() + "/config.json", BundleConfig(spec, root, container.id, options_.rootless));
  if (!written) return written.error();

  core::Result<std::pair<core::UniqueFd, core::UniqueFd>> input =
      core::CreateSocketPair(SOCK_STREAM);
  if (!input) return input.error();
  core::Result<std::pair<core::UniqueFd, core::UniqueFd>> errors =
      core::CreateSocketPair(SOCK_STREAM);
  if (!errors) return errors.error();
  // A pipe: on a full socket, gVisor's write fails with EAGAIN even for blocking writers.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return core::SystemError(operation);
  container.output = core::UniqueFd(ends[0]);
  const core::UniqueFd output(ends[1]);
  core::Result<core::Process> process =
      Spawn(operation, Command({"run", "--bundle=" + bundle.path(), container.id}),
            {input->second.get(), output.get(), errors->second.get()});
  if (!process) return process.error();
  bundle.Keep();
  container.input = std::move(input->first);
  container.errors = [errors = std::make_shared<Errors>(std::move(errors->first))] {
    return errors->Text();
  };
  {
    const std::lock_guard lock(mutex_);
    Child& child = children_[container.id];
    child.process = std::move(*process);
    child.limited = !options_.rootless;
  }
  container.started_in =
      std::chrono::duration_cast<std::chrono::microseconds>(core::Clock::now() - began);
  return container;
}

core::Result<void> RunscEngine::Kill(const std::string& id) {
  if (core::Result<void> valid = CheckId(id); !valid) return valid;
  const std::string operation = "kill a container";
  const core::UniqueFd end = EndOf(id, true);
  if (!end) {
    // From an earlier host, or nonexistent. In the latter case runsc fails, which does not matter.
    (void)RunRunsc(operation, {"kill", id, "KILL"});
    return {};
  }
  // "runsc run" deletes its container when it has ended. A container that is still starting cannot
  // be killed yet, so this is retried.
  const core::Deadline deadline = core::Clock::now() + options_.timeout;
  while (!core::WaitReadable(end.get(), core::Clock::now())) {
    if (core::Clock::now() >= deadline)
      return core::SystemErrorOf(ETIMEDOUT, operation, "it does not end");
    (void)RunRunsc(operation, {"kill", id, "KILL"});
    (void)core::WaitReadable(end.get(), core::Clock::now() + kKillAgain);
  }
  return {};
}

core::Result<engines::ContainerExit> RunscEngine::Wait(const std::string& id,
                                                       milliseconds timeout) {
  const std::string operation = "wait for a container";
  const core::UniqueFd end = EndOf(id, false);
  if (!end) return core::MakeError(operation, "not started by this engine");
  if (core::Result<void> ended = core::WaitReadable(end.get(), core::Clock::now() + timeout);
      !ended) {
    return core::SystemErrorOf(ended.error().error_number, operation);
  }
  siginfo_t info{};
  // Left for Remove to reap.
  if (waitid(P_PIDFD, static_cast<id_t>(end.get()), &info, WEXITED | WNOWAIT) != 0) {
    return core::SystemError(operation);
  }
  engines::ContainerExit exit;
  exit.exit_code = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
  // Its control group is already gone. Only the kernel kills in there, and only for lack of memory.
  const std::lock_guard lock(mutex_);
  const auto found = children_.find(id);
  exit.out_of_memory = exit.exit_code == 128 + SIGKILL && found != children_.end() &&
                       found->second.limited && !found->second.killed;
  return exit;
}

// To the kernel the sandbox is one process, so it is killed as a whole or not at all.
core::Result<bool> RunscEngine::RanOutOfMemory(const std::string& id) {
  const core::Result<engines::ContainerExit> exit = Wait(id, milliseconds(0));
  if (exit) return exit->out_of_memory;
  if (exit.error().error_number == ETIMEDOUT) return false;
  return exit.error();
}

// Those with a bundle: runsc itself forgets a container when it ends.
core::Result<std::vector<engines::ListedContainer>> RunscEngine::List(const std::string& label,
                                                                      const std::string& value) {
  const std::string operation = "list containers";
  core::Result<std::string> text = RunRunsc(operation, {"list", "--format=json"});
  if (!text) return text.error();
  core::Result<std::set<std::string>> running = ReadRunning(*text);
  if (!running) return running.error();
  core::Result<std::vector<std::string>> ids = DigestsIn(options_.folder + "/bundles");
  if (!ids) return ids.error();
  std::vector<engines::ListedContainer> containers;
  for (std::string& id : *ids) {
    engines::ListedContainer container;
    container.labels = LabelsOfBundle(BundleOf(id));
    container.running = running->contains(id);
    container.id = std::move(id);
    const auto found = container.labels.find(label);
    if (found != container.labels.end() && found->second == value) {
      containers.push_back(std::move(container));
    }
  }
  return containers;
}

core::Result<void> RunscEngine::Remove(const std::string& id) {
  const std::string operation = "remove a container";
  if (core::Result<void> killed = Kill(id); !killed) return killed;
  Child child;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = children_.find(id); found != children_.end()) {
      child = std::move(found->second);
      children_.erase(found);
    }
  }
  // A "runsc run" that exited has deleted its container. One that was killed itself (for lack of
  // memory on this machine, say) leaves runsc's state and the control groups. Deleting an unknown
  // container is not an error.
  const bool has_deleted = child.process && child.process.Destroy().exit_code >= 0;
  if (!has_deleted) {
    // Its bundle is kept: that is how List finds it next time.
    core::Result<std::string> deleted = RunRunsc(operation, {"delete", "--force", id});
    if (!deleted) return deleted.error();
  }
  std::error_code error;
  fs::remove_all(BundleOf(id), error);
  if (error) return core::SystemErrorOf(error.value(), operation + ": remove " + BundleOf(id));
  return {};
}

}  // namespace belljar::container::runsc
