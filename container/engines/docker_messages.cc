#include "container/engines/docker_messages.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "engine/core/text.h"
#include "engine/host/json_reader.h"
#include "engine/host/number.h"

namespace belljar::container::engines {
namespace {

using Json = nlohmann::json;

constexpr host::JsonBounds kBounds{.depth = 32, .values = 50'000};
// Some forty values per container; the list is needed to remove them.
constexpr host::JsonBounds kListBounds{.depth = 32, .values = 500'000};
constexpr size_t kShown = 400;
constexpr uint64_t kPodmanProcesses = 16'384;

core::Error NotUnderstood(std::string_view what) {
  return core::MakeError("parse an answer of the container engine",
                         "its answer does not match the Docker Engine API: " + std::string(what));
}

core::Result<Json> ReadObject(std::string_view answer) {
  host::JsonReading reading = host::ReadJson(answer, kBounds);
  Json* const value = std::get_if<Json>(&reading);
  if (!value) return NotUnderstood("not JSON, or too much of it");
  if (!value->is_object()) return NotUnderstood("not an object");
  return std::move(*value);
}

// The member if it exists and has that type; else null.
const Json* Member(const Json& object, const char* name, Json::value_t type) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found != object.end() && found->type() == type ? &*found : nullptr;
}

std::string Text(const Json& object, const char* name) {
  const Json* const value = Member(object, name, Json::value_t::string);
  return value ? value->get<std::string>() : std::string();
}

bool Flag(const Json& object, const char* name) {
  const Json* const value = Member(object, name, Json::value_t::boolean);
  return value && value->get<bool>();
}

std::map<std::string, std::string> Texts(const Json& object, const char* name) {
  std::map<std::string, std::string> texts;
  if (const Json* const members = Member(object, name, Json::value_t::object)) {
    for (const auto& [key, value] : members->items()) {
      if (value.is_string()) texts.emplace(key, value.get<std::string>());
    }
  }
  return texts;
}

std::string Shown(std::string_view text) {
  std::string shown = core::Printable(text.substr(0, kShown));
  while (!shown.empty() && shown.back() == ' ') shown.pop_back();
  return shown;
}

// N in "1.N".
std::optional<int> MinorOf(std::string_view version) {
  constexpr std::string_view kMajor = "1.";
  if (!version.starts_with(kMajor)) return std::nullopt;
  return host::NumberFrom<int>(version.substr(kMajor.size()));
}

std::string FolderOptions(const ContainerFolder& folder) {
  // Docker's own default is noexec.
  return std::string("rw,nosuid,nodev,") + (folder.executable ? "exec" : "noexec") +
         ",mode=1777,size=" + std::to_string(folder.size.count);
}

// Soft and hard limit are the same.
Json ResourceLimit(const char* name, uint64_t value) {
  return {{"Name", name}, {"Soft", value}, {"Hard", value}};
}

Json HostConfig(const ContainerSpec& spec, bool for_podman) {
  Json limits = {ResourceLimit("nofile", spec.open_files), ResourceLimit("core", 0)};
  // By default Podman requests 1048576, which a service without CAP_SYS_RESOURCE cannot set. It is
  // counted per user on this machine, so it is far more than `pids` allows one container.
  if (for_podman) limits.push_back(ResourceLimit("nproc", kPodmanProcesses));
  Json folders = Json::object();
  for (const ContainerFolder& folder : spec.folders) folders[folder.path] = FolderOptions(folder);
  Json host = {
      {"NetworkMode", "none"},
      {"IpcMode", "private"},
      {"PidMode", ""},
      {"UTSMode", ""},
      {"Privileged", false},
      {"ReadonlyRootfs", true},
      {"CapDrop", {"ALL"}},
      {"SecurityOpt", {"no-new-privileges:true"}},
      {"Tmpfs", std::move(folders)},
      // Both set to the same value: memory and swap together, so no swap.
      {"Memory", spec.memory.count},
      {"MemorySwap", spec.memory.count},
      {"PidsLimit", spec.pids},
      {"NanoCpus", static_cast<int64_t>(std::llround(spec.cpus * 1e9))},
      // The guest's output need not be kept, and without a log none can fill the disk.
      {"LogConfig", {{"Type", "none"}}},
      {"RestartPolicy", {{"Name", "no"}}},
      // Podman's events do not say afterwards how it ended.
      {"AutoRemove", spec.leaves_nothing && !for_podman},
      {"Ulimits", std::move(limits)},
  };
  // Otherwise Docker writes the machine's name servers and search domains into resolv.conf.
  if (!for_podman) host["Dns"] = {"127.0.0.1"};
  if (!for_podman) host["DnsSearch"] = {"."};
  if (!spec.runtime.empty()) host["Runtime"] = spec.runtime;
  return host;
}

}  // namespace

std::string CreateBody(const ContainerSpec& spec, bool for_podman) {
  const std::string user = std::to_string(kContainerUid);
  const Json body = {
      {"Image", spec.image},
      {"Entrypoint", spec.command},
      {"Cmd", Json::array()},
      {"Env", spec.environment},
      {"Labels", spec.labels},
      {"WorkingDir", spec.working_folder},
      {"User", user + ":" + user},
      {"Hostname", "belljar"},
      {"NetworkDisabled", true},
      {"Tty", false},
      {"OpenStdin", true},
      // Standard input ends when the attached client does.
      {"StdinOnce", true},
      {"AttachStdin", true},
      {"AttachStdout", true},
      {"AttachStderr", true},
      {"HostConfig", HostConfig(spec, for_podman)},
  };
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string LabelFilter(const std::string& label, const std::string& value) {
  const Json filter = {{"label", Json::array({label + "=" + value})}};
  return filter.dump(-1, ' ', false, Json::error_handler_t::replace);
}

core::Result<EngineVersion> ReadVersion(std::string_view answer) {
  core::Result<Json> object = ReadObject(answer);
  if (!object) return object.error();
  EngineVersion version;
  version.version = Shown(Text(*object, "Version"));
  if (const Json* const parts = Member(*object, "Components", Json::value_t::array)) {
    for (const Json& part : *parts) {
      if (Text(part, "Name") == "Podman Engine") version.is_podman = true;
    }
  }
  version.name = version.is_podman ? "Podman Engine" : "Docker Engine";
  const std::optional<int> newest = MinorOf(Text(*object, "ApiVersion"));
  if (!newest) return NotUnderstood("no ApiVersion");
  const int oldest = MinorOf(Text(*object, "MinAPIVersion")).value_or(0);
  version.api = std::min(*newest, kMaxDockerApi);
  if (version.api < std::max(oldest, kMinDockerApi)) {
    return core::MakeError(
        "negotiate an API version with the container engine",
        version.name + " " + version.version + " speaks 1." + std::to_string(oldest) + " to 1." +
            std::to_string(*newest) + ", Belljar 1." + std::to_string(kMinDockerApi) + " to 1." +
            std::to_string(kMaxDockerApi) +
            (*newest < kMinDockerApi ? ": use a newer engine" : ": use a newer Belljar"));
  }
  return version;
}

core::Result<EngineFacts> ReadInfo(std::string_view answer) {
  core::Result<Json> object = ReadObject(answer);
  if (!object) return object.error();
  EngineFacts facts;
  facts.default_runtime = Shown(Text(*object, "DefaultRuntime"));
  if (const Json* const runtimes = Member(*object, "Runtimes", Json::value_t::object)) {
    for (const auto& [name, ignored] : runtimes->items()) {
      facts.runtimes.push_back(Shown(name));
    }
  }
  if (const Json* const options = Member(*object, "SecurityOptions", Json::value_t::array)) {
    for (const Json& option : *options) {
      if (option.is_string() && option.get<std::string>().starts_with("name=rootless")) {
        facts.rootless = true;
      }
    }
  }
  facts.limits_memory = Flag(*object, "MemoryLimit");
  facts.limits_swap = Flag(*object, "SwapLimit");
  facts.limits_pids = Flag(*object, "PidsLimit");
  facts.limits_cpu = Flag(*object, "CpuCfsQuota");
  return facts;
}

bool IsContainerId(std::string_view text) { return core::IsHex(text, 64); }

core::Result<std::string> ReadContainerId(std::string_view answer) {
  core::Result<Json> object = ReadObject(answer);
  if (!object) return object.error();
  std::string id = Text(*object, "Id");
  if (!IsContainerId(id)) return NotUnderstood("not a container ID");
  return id;
}

core::Result<int> ReadExitCode(std::string_view answer) {
  core::Result<Json> object = ReadObject(answer);
  if (!object) return object.error();
  const auto code = object->find("StatusCode");
  if (code == object->end() || !code->is_number_integer()) return NotUnderstood("no StatusCode");
  const auto value = code->get<int64_t>();
  if (value < 0 || value > 255) return NotUnderstood("an invalid StatusCode");
  return static_cast<int>(value);
}

core::Result<int> ReadExitEvent(std::string_view answer) {
  const std::string_view line = answer.substr(0, answer.find('\n'));
  if (line.find_first_not_of(" \r") == line.npos) {
    return core::MakeError("find the end of a container", "the engine does not know it");
  }
  core::Result<Json> object = ReadObject(line);
  if (!object) return object.error();
  const Json* const actor = Member(*object, "Actor", Json::value_t::object);
  const Json* const attributes =
      actor ? Member(*actor, "Attributes", Json::value_t::object) : nullptr;
  const auto code = host::NumberFrom<uint8_t>(attributes ? Text(*attributes, "exitCode") : "");
  if (!code) return NotUnderstood("an end without an exitCode");
  return *code;
}

core::Result<bool> ReadOutOfMemory(std::string_view answer) {
  core::Result<Json> object = ReadObject(answer);
  if (!object) return object.error();
  const Json* const state = Member(*object, "State", Json::value_t::object);
  if (!state) return NotUnderstood("a container without a State");
  return Flag(*state, "OOMKilled");
}

core::Result<bool> ReadRunning(std::string_view answer) {
  core::Result<Json> object = ReadObject(answer);
  if (!object) return object.error();
  const Json* const state = Member(*object, "State", Json::value_t::object);
  const Json* const running = state ? Member(*state, "Running", Json::value_t::boolean) : nullptr;
  if (!running) return NotUnderstood("a container without a State.Running");
  return running->get<bool>();
}

core::Result<EngineImage> ReadImage(std::string_view answer) {
  core::Result<Json> object = ReadObject(answer);
  if (!object) return object.error();
  EngineImage image;
  image.id = Text(*object, "Id");
  // Podman's own API omits the prefix.
  if (IsContainerId(image.id)) image.id.insert(0, "sha256:");
  if (!image.id.starts_with("sha256:") || !IsContainerId(std::string_view(image.id).substr(7))) {
    return NotUnderstood("not an image ID");
  }
  if (const Json* const config = Member(*object, "Config", Json::value_t::object)) {
    image.labels = Texts(*config, "Labels");
  }
  const auto size = object->find("Size");
  if (size != object->end() && size->is_number_unsigned()) image.size = {size->get<uint64_t>()};
  return image;
}

core::Result<std::vector<ListedContainer>> ReadContainers(std::string_view answer) {
  host::JsonReading reading = host::ReadJson(answer, kListBounds);
  const Json* const list = std::get_if<Json>(&reading);
  if (!list || !list->is_array()) return NotUnderstood("not a list of containers");
  std::vector<ListedContainer> containers;
  for (const Json& item : *list) {
    ListedContainer container;
    container.id = Text(item, "Id");
    if (!IsContainerId(container.id)) return NotUnderstood("a container without an ID");
    container.labels = Texts(item, "Labels");
    container.running = Text(item, "State") == "running";
    containers.push_back(std::move(container));
  }
  return containers;
}

core::Result<std::string> ReadLoaded(std::string_view answer) {
  constexpr std::string_view kPrefixes[] = {"Loaded image: ", "Loaded image ID: "};
  std::string loaded;
  while (!answer.empty()) {
    const size_t end = std::min(answer.find('\n'), answer.size());
    std::string_view line = answer.substr(0, end);
    answer.remove_prefix(std::min(end + 1, answer.size()));
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    core::Result<Json> object = ReadObject(line);
    if (!object) return object.error();
    if (const std::string error = Text(*object, "error"); !error.empty()) {
      return core::MakeError("load the image", "the container engine says: " + Shown(error));
    }
    std::string text = Text(*object, "stream");
    for (const std::string_view prefix : kPrefixes) {
      if (text.starts_with(prefix)) loaded = text.substr(prefix.size());
    }
  }
  while (!loaded.empty() && (loaded.back() == '\n' || loaded.back() == ' ')) loaded.pop_back();
  if (loaded.empty()) return NotUnderstood("it does not say which image it loaded");
  return core::Printable(loaded);
}

std::string ReadRefusal(std::string_view answer) {
  const core::Result<Json> object = ReadObject(answer);
  std::string message = object ? Text(*object, "message") : std::string();
  // Podman puts its reason there.
  if (object && message.empty()) message = Text(*object, "cause");
  return message.empty() ? "no reason given" : Shown(message);
}

}  // namespace belljar::container::engines
