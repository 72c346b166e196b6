#include "container/engines/docker_engine.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/percent_encoding.h"
#include "engine/host/random.h"

namespace belljar::container::engines {
namespace {

using std::chrono::milliseconds;

constexpr size_t kLongAnswer = 8 << 20;  // for a list; one container takes about 1 KiB
// The kernel's notification of a kill may come after that of the death: about 0.1 s was observed,
// and more than 0.5 s on a loaded machine.
constexpr milliseconds kKillNoticeTimeout{1500};

core::Error Refused(const std::string& operation, const EngineAnswer& answer,
                    std::string advice = {}) {
  std::string detail = "the container engine says: " + ReadRefusal(answer.body) + " (HTTP " +
                       std::to_string(answer.status) + ")";
  if (!advice.empty()) detail += "; " + advice;
  return core::MakeError(operation, std::move(detail));
}

core::Error WithOperation(core::Error error, const std::string& operation) {
  error.operation = operation + ": " + error.operation;
  return error;
}

std::string AdviceOnRuntime(const std::string& runtime) {
  if (runtime.empty()) return {};
  return "the runtime \"" + runtime + "\" must be installed and configured in the engine" +
         (runtime == "runsc" ? " with --platform and --network=none (docs/containers.md)" : "");
}

std::string ContainerPath(const std::string& id, std::string_view rest) {
  return "/containers/" + id + std::string(rest);
}

// "1700000000.123000000": seconds and nanoseconds, the format of the engine's events.
std::string Timestamp(std::chrono::system_clock::duration time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  std::string nanoseconds = std::to_string(std::chrono::nanoseconds(time - whole).count());
  nanoseconds.insert(0, 9 - nanoseconds.size(), '0');
  return std::to_string(whole.count()) + "." + nanoseconds;
}

core::Result<void> CheckId(const std::string& id) {
  if (!IsContainerId(id)) return core::MakeError("refer to a container", "not a container ID");
  return {};
}

}  // namespace

std::vector<std::string> DefaultEngineSockets() {
  constexpr std::string_view kUnix = "unix://";
  std::vector<std::string> sockets;
  const char* const host = getenv("DOCKER_HOST");
  if (host && std::string_view(host).starts_with(kUnix)) {
    sockets.emplace_back(host + kUnix.size());
  }
  sockets.emplace_back("/var/run/docker.sock");
  if (const char* const folder = getenv("XDG_RUNTIME_DIR"); folder && *folder == '/') {
    sockets.push_back(std::string(folder) + "/docker.sock");
    sockets.push_back(std::string(folder) + "/podman/podman.sock");
  }
  sockets.emplace_back("/run/podman/podman.sock");
  return sockets;
}

DockerEngine::DockerEngine(DockerEngineOptions options)
    : options_(std::move(options)), client_(options_.socket) {}

// --- the engine itself ----------------------------------------------------------------------

core::Result<EngineVersion> DockerEngine::Version() {
  {
    const std::lock_guard lock(mutex_);
    if (version_) return *version_;
  }
  core::Result<EngineAnswer> answer =
      client_.Call({.operation = "query the version of the container engine",
                    .target = "/version",
                    .timeout = options_.timeout});
  if (!answer) return answer.error();
  if (answer->status != 200) return Refused("query the version of the container engine", *answer);
  core::Result<EngineVersion> version = ReadVersion(answer->body);
  if (!version) return version.error();
  const std::lock_guard lock(mutex_);
  version_ = *version;
  return version;
}

core::Result<EngineCall> DockerEngine::Versioned(EngineCall call) {
  core::Result<EngineVersion> version = Version();
  if (!version) return WithOperation(version.error(), call.operation);
  call.target.insert(0, "/v1." + std::to_string(version->api));
  if (!call.timeout) call.timeout = options_.timeout;
  return call;
}

core::Result<EngineAnswer> DockerEngine::CallEngine(EngineCall call,
                                                    const std::vector<unsigned>& expected,
                                                    std::string advice) {
  const std::string operation = call.operation;
  core::Result<EngineCall> versioned = Versioned(std::move(call));
  if (!versioned) return versioned.error();
  core::Result<EngineAnswer> answer = client_.Call(*versioned);
  // It may be another engine when it is back.
  if (!answer) {
    const std::lock_guard lock(mutex_);
    version_.reset();
    podman_runtime_.clear();
    return answer;
  }
  if (expected.empty() || std::ranges::count(expected, answer->status) > 0) return answer;
  return Refused(operation, *answer, std::move(advice));
}

core::Result<EngineFacts> DockerEngine::Check() {
  {
    const std::lock_guard lock(mutex_);
    version_.reset();
  }
  core::Result<EngineAnswer> answer =
      CallEngine({.operation = "query the container engine", .target = "/info"}, {200});
  if (!answer) return answer.error();
  core::Result<EngineFacts> facts = ReadInfo(answer->body);
  if (!facts) return facts;
  core::Result<EngineVersion> version = Version();
  if (!version) return version.error();
  facts->name = version->name;
  facts->version = version->version;
  facts->api_version = "1." + std::to_string(version->api);
  // Podman's service lists every configured runtime, installed or not, and ignores which one a
  // container asks for (4.3).
  if (version->is_podman) facts->runtimes = {facts->default_runtime};
  return facts;
}

// --- images ---------------------------------------------------------------------------------

core::Result<std::optional<EngineImage>> DockerEngine::FindImage(const std::string& reference) {
  const std::string operation = "look for the image " + reference;
  core::Result<EngineAnswer> answer = CallEngine(
      {.operation = operation, .target = "/images/" + host::PercentEncoded(reference) + "/json"},
      {200, 404});
  if (!answer) return answer.error();
  if (answer->status == 404) return std::optional<EngineImage>();
  core::Result<EngineImage> image = ReadImage(answer->body);
  if (!image) return WithOperation(image.error(), operation);
  return std::optional(std::move(*image));
}

core::Result<std::string> DockerEngine::LoadImage(int tar, const LoadProgress& progress) {
  struct stat file;
  if (fstat(tar, &file) != 0) return core::SystemError("load the image");
  if (!S_ISREG(file.st_mode)) return core::MakeError("load the image", "it must be a regular file");
  const auto size = static_cast<uint64_t>(file.st_size);
  core::Result<EngineCall> call = Versioned({.operation = "load the image",
                                             .method = "POST",
                                             .target = "/images/load?quiet=1",
                                             .timeout = options_.timeout * 4});
  if (!call) return call.error();
  core::Result<EngineAnswer> answer = client_.Upload(*call, tar, size, [&](uint64_t sent) {
    if (progress) progress({sent}, {size});
  });
  if (!answer) return answer.error();
  if (answer->status != 200) return Refused("load the image", *answer);
  return ReadLoaded(answer->body);
}

core::Result<void> DockerEngine::RemoveImage(const std::string& reference) {
  core::Result<EngineAnswer> answer =
      CallEngine({.operation = "remove the image " + reference,
                  .method = "DELETE",
                  .target = "/images/" + host::PercentEncoded(reference)},
                 {200, 404});
  if (!answer) return answer.error();
  return {};
}

// --- container lifecycle --------------------------------------------------------------------

core::Result<void> DockerEngine::CheckRuntime(const std::string& runtime) {
  core::Result<EngineVersion> version = Version();
  if (!version) return WithOperation(version.error(), "create a container");
  if (runtime.empty() || !version->is_podman) return {};
  std::string only;
  {
    const std::lock_guard lock(mutex_);
    only = podman_runtime_;
  }
  if (only.empty()) {
    core::Result<EngineFacts> facts = Check();
    if (!facts) return facts.error();
    only = facts->default_runtime;
    const std::lock_guard lock(mutex_);
    podman_runtime_ = only;
  }
  if (runtime == only) return {};
  return core::MakeError("create a container",
                         "Podman's service runs everything by \"" + only + "\", not by \"" +
                             runtime + "\": set runtime = \"" + runtime +
                             "\" in its containers.conf and restart it, or use Docker or runsc");
}

core::Result<std::string> DockerEngine::Create(const ContainerSpec& spec, const std::string& name) {
  const std::string operation = "create a container";
  if (core::Result<void> checked = CheckRuntime(spec.runtime); !checked) return checked.error();
  core::Result<EngineVersion> version = Version();
  if (!version) return WithOperation(version.error(), operation);
  core::Result<EngineAnswer> answer = CallEngine({.operation = operation,
                                                  .method = "POST",
                                                  .target = "/containers/create?name=" + name,
                                                  .body = CreateBody(spec, version->is_podman)},
                                                 {201, 404}, AdviceOnRuntime(spec.runtime));
  if (!answer) return answer.error();
  if (answer->status == 404) {
    return Refused(
        operation, *answer,
        "build it and load it into the engine: belljar image build --load docker (or podman)");
  }
  return ReadContainerId(answer->body);
}

core::Result<OutputPump::Streams> DockerEngine::Attach(const std::string& id,
                                                       core::UniqueFd& input) {
  const std::string operation = "attach to a container";
  core::Result<EngineCall> call =
      Versioned({.operation = operation,
                 .method = "POST",
                 .target = ContainerPath(id, "/attach?stream=1&stdin=1&stdout=1&stderr=1")});
  if (!call) return call.error();
  EngineAnswer refusal;
  core::Result<core::UniqueFd> attached = client_.Upgrade(*call, refusal);
  if (!attached) return attached.error();
  if (!*attached) return Refused(operation, refusal);
  input = core::UniqueFd(fcntl(attached->get(), F_DUPFD_CLOEXEC, 0));
  if (!input) return core::SystemError(operation);
  return pump_.Add(std::move(*attached));
}

core::Result<void> DockerEngine::StartCreated(const std::string& id, const ContainerSpec& spec) {
  core::Result<EngineAnswer> answer = CallEngine(
      {.operation = "start a container", .method = "POST", .target = ContainerPath(id, "/start")},
      {204}, AdviceOnRuntime(spec.runtime));
  if (!answer) return answer.error();
  return {};
}

core::Result<StartedContainer> DockerEngine::Start(const ContainerSpec& spec) {
  const auto began = core::Clock::now();
  StartedContainer container;
  // Chosen before there is an id: an engine that did not reply may still have created the
  // container.
  const std::string name = "belljar-" + core::Hex(host::RandomBytes());
  const auto give_up = [&](const core::Error& error) {
    if (!RemoveNamed(name)) {
      const std::lock_guard lock(mutex_);
      left_.push_back(name);
    }
    return error;
  };
  core::Result<std::string> id = Create(spec, name);
  if (!id) {
    const int why = id.error().error_number;
    return why == ETIMEDOUT || why == ECONNRESET ? give_up(id.error()) : id.error();
  }
  container.id = std::move(*id);
  core::Result<OutputPump::Streams> streams = Attach(container.id, container.input);
  if (!streams) return give_up(streams.error());
  if (core::Result<void> started = StartCreated(container.id, spec); !started) {
    return give_up(started.error());
  }
  // The engine is reachable again.
  RemoveLeft();
  container.output = std::move(streams->output);
  container.errors = [errors = std::move(streams->errors)] { return errors->Text(); };
  container.started_in =
      std::chrono::duration_cast<std::chrono::microseconds>(core::Clock::now() - began);
  return container;
}

core::Result<void> DockerEngine::Kill(const std::string& id) {
  if (core::Result<void> valid = CheckId(id); !valid) return valid;
  const std::string operation = "kill a container";
  core::Result<EngineAnswer> answer = CallEngine(
      {.operation = operation, .method = "POST", .target = ContainerPath(id, "/kill?signal=KILL")});
  if (!answer) return answer.error();
  // 404: it does not exist; 409: it is not running.
  const unsigned status = answer->status;
  if (status == 204 || status == 404 || status == 409) return {};
  // Podman reports one that is not running as a failure of its own (500).
  const core::Result<EngineAnswer> state =
      CallEngine({.operation = operation, .target = ContainerPath(id, "/json")});
  if (state && state->status == 200) {
    const core::Result<bool> running = ReadRunning(state->body);
    if (running && !*running) return {};
  }
  return Refused(operation, *answer);
}

core::Result<ContainerExit> DockerEngine::Wait(const std::string& id, milliseconds timeout) {
  if (core::Result<void> valid = CheckId(id); !valid) return valid.error();
  core::Result<EngineAnswer> answer =
      CallEngine({.operation = "wait for a container",
                  .method = "POST",
                  .target = ContainerPath(id, "/wait?condition=not-running"),
                  .timeout = timeout},
                 {200, 404});
  if (!answer) return answer.error();
  if (answer->status == 404) return EndInEvents(id);
  return ExitOf(id, ReadExitCode(answer->body));
}

core::Result<ContainerExit> DockerEngine::ExitOf(const std::string& id,
                                                 const core::Result<int>& code) {
  if (!code) return WithOperation(code.error(), "wait for a container");
  ContainerExit exit{.exit_code = *code};
  if (*code == 128 + SIGKILL) {
    core::Result<bool> out_of_memory = RanOutOfMemory(id);
    if (!out_of_memory) return out_of_memory.error();
    exit.out_of_memory = *out_of_memory;
  }
  return exit;
}

core::Result<EngineAnswer> DockerEngine::EventsOf(const std::string& id, const std::string& event,
                                                  milliseconds to_come) {
  const std::string filters =
      R"({"type":["container"],"event":[")" + event + R"("],"container":[")" + id + R"("]})";
  const auto until = std::chrono::system_clock::now().time_since_epoch() + to_come;
  return CallEngine({.operation = "query how a container ended",
                     .target = "/events?since=1&until=" + Timestamp(until) +
                               "&filters=" + host::PercentEncoded(filters)});
}

// For a container that has been removed. The engine keeps the last few hundred events.
core::Result<ContainerExit> DockerEngine::EndInEvents(const std::string& id) {
  core::Result<EngineAnswer> events = EventsOf(id, "die", milliseconds(0));
  if (!events) return events.error();
  if (events->status != 200) return Refused("wait for a container", *events);
  return ExitOf(id, ReadExitEvent(events->body));
}

// The state only has it if the kernel's notification came before the end (containerd reads the two
// from different places). So this also asks for the engine's events, past ones and those of the
// next moment.
core::Result<bool> DockerEngine::RanOutOfMemory(const std::string& id) {
  if (core::Result<void> valid = CheckId(id); !valid) return valid.error();
  core::Result<EngineAnswer> state =
      CallEngine({.operation = "query how a container ended", .target = ContainerPath(id, "/json")},
                 {200, 404});
  if (!state) return state.error();
  if (state->status == 200) {
    core::Result<bool> known = ReadOutOfMemory(state->body);
    if (!known || *known) return known;
  }
  core::Result<EngineAnswer> events = EventsOf(id, "oom", kKillNoticeTimeout);
  if (!events) return events.error();
  // An engine without such events (Podman) reports it in the state.
  return events->status == 200 && events->body.find_first_not_of(" \r\n") != std::string::npos;
}

core::Result<std::vector<ListedContainer>> DockerEngine::List(const std::string& label,
                                                              const std::string& value) {
  core::Result<EngineAnswer> answer =
      CallEngine({.operation = "list containers",
                  .target = "/containers/json?all=1&filters=" +
                            host::PercentEncoded(LabelFilter(label, value)),
                  .max_answer = kLongAnswer},
                 {200});
  if (!answer) return answer.error();
  return ReadContainers(answer->body);
}

core::Result<void> DockerEngine::Remove(const std::string& id) {
  if (core::Result<void> valid = CheckId(id); !valid) return valid;
  return RemoveNamed(id);
}

void DockerEngine::RemoveLeft() {
  std::vector<std::string> left;
  {
    const std::lock_guard lock(mutex_);
    left.swap(left_);
  }
  std::erase_if(left, [&](const std::string& name) { return RemoveNamed(name).ok(); });
  const std::lock_guard lock(mutex_);
  left_.insert(left_.end(), left.begin(), left.end());
}

core::Result<void> DockerEngine::RemoveNamed(const std::string& name) {
  // 200: Podman; 404: it does not exist; 409: something else is removing it.
  core::Result<EngineAnswer> answer = CallEngine({.operation = "remove a container",
                                                  .method = "DELETE",
                                                  .target = ContainerPath(name, "?force=1&v=1")},
                                                 {200, 204, 404, 409});
  if (!answer) return answer.error();
  return {};
}

}  // namespace belljar::container::engines
