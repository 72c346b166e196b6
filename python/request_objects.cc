#include "python/request_objects.h"

#include <pybind11/stl.h>

#include <concepts>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/limits.h"
#include "engine/core/text.h"
#include "engine/host/fields.h"
#include "engine/outside/sandbox.h"
#include "engine/profiles/profile_catalogue.h"
#include "engine/workspace/workspace.h"
#include "python/errors.h"
#include "python/objects.h"

namespace belljar::python {
namespace {

namespace py = pybind11;
using Strings = std::vector<std::string>;

template <typename T>
T Item(const py::dict& from, const char* key) {
  return py::cast<T>(from[key]);
}

template <typename T>
std::optional<T> OptionalItem(const py::dict& from, const char* key) {
  const py::object item = from[key];
  if (item.is_none()) return std::nullopt;
  return py::cast<T>(item);
}

[[noreturn]] void Refuse(std::string message) {
  throw BadArgument{core::MakeError(std::move(message), "")};
}

void CheckMax(const char* name, bool is_over, const std::string& requested,
              const std::string& maximum, const core::Profile& profile) {
  if (!is_over) return;
  Refuse(std::string(name) + ": " + requested + " is over " + maximum +
         ", the maximum of profile " + profile.name);
}

// The profile's default limits, with the requested ones replacing them.
core::Limits LimitsFrom(const core::RequestedLimits& requested, const core::Profile& profile) {
  using std::chrono::milliseconds;
  const core::Limits& maximum = profile.maximum_limits;
  const auto check_time = [&](const char* name, const std::optional<milliseconds>& given,
                              milliseconds maximum) {
    if (given) {
      CheckMax(name, *given > maximum, core::FormatDuration(*given), core::FormatDuration(maximum),
               profile);
    }
  };
  const auto check_size = [&](const char* name, const std::optional<core::Bytes>& given,
                              core::Bytes maximum) {
    if (given) CheckMax(name, *given > maximum, given->ToString(), maximum.ToString(), profile);
  };
  check_time("timeout", requested.timeout, maximum.timeout);
  check_time("cpu", requested.cpu, maximum.cpu);
  check_size("memory", requested.memory, maximum.memory);
  check_size("output", requested.output, maximum.output);
  return core::WithRequested(profile.default_limits, maximum, requested);
}

void CheckImports(const std::optional<Strings>& modules, const core::Profile& profile,
                  outside::Policy policy) {
  if (!modules) return;
  if (policy == outside::Policy::kOff) {
    Refuse("allowed_imports: it narrows the language policy, but this sandbox was created with " +
           std::string(profile.without_policy ? "profile=\"" + profile.name + "\""
                                              : "policy=\"off\"") +
           ", which turns it off");
  }
  OrBadArgument(profiles::CheckAllowedImports(*modules, profile, "allowed_imports"));
}

void CheckDomains(const std::optional<Strings>& domains, const Opened& opened) {
  if (!domains) return;
  if (!opened.rules) {
    Refuse("allowed_domains: profile " + opened.profile.name +
           " has no network; it requires profile=\"network\"");
  }
  const core::Result<egress::AllowList> narrower = opened.rules->Narrow(*domains);
  if (!narrower) Refuse("allowed_domains: " + narrower.error().ToString());
}

// Pairs of a name and a value.
template <typename Pair>
std::vector<Pair> PairsFrom(const py::handle& list) {
  std::vector<Pair> given;
  for (const py::handle item : list) {
    const auto pair = py::reinterpret_borrow<py::tuple>(item);
    given.push_back({py::cast<std::string>(pair[0]), py::cast<std::string>(pair[1])});
  }
  return given;
}

void CheckFiles(const std::vector<host::InputFile>& files, const core::Profile& profile) {
  const core::Result<void> checked = workspace::CheckFiles(files, profile);
  if (!checked) Refuse("files: " + checked.error().ToString());
}

template <typename T>
void Read(const py::handle& value, T& into) {
  if constexpr (host::OptionalField<T>) {
    Read(value, into.emplace());
  } else if constexpr (host::DurationField<T>) {
    into = T(py::cast<int64_t>(value));
  } else if constexpr (std::same_as<T, core::Bytes>) {
    into.count = py::cast<uint64_t>(value);
  } else if constexpr (std::same_as<T, std::vector<host::InputFile>> ||
                       std::same_as<T, std::vector<host::InputVariable>>) {
    into = PairsFrom<typename T::value_type>(value);
  } else if constexpr (std::same_as<T, py::object>) {
    into = py::reinterpret_borrow<py::object>(value);
  } else {
    into = py::cast<T>(value);
  }
}

// The table of a run's request: each key of the dict (_wire.py), and what it sets.
template <typename Visit>
void VisitItems(RunRequest& run, core::RequestedLimits& limits, const Visit& visit) {
  host::Request& request = run.request;
  visit("source", request.source);
  visit("language", request.language);
  visit("filename", request.filename);
  visit("stdin", request.standard_input);
  visit("args", request.arguments);
  visit("env", request.environment);
  visit("timeout", limits.timeout);
  visit("cpu", limits.cpu);
  visit("memory", limits.memory);
  visit("output", limits.output);
  visit("allowed_imports", request.allowed_imports);
  visit("allowed_domains", request.allowed_domains);
  visit("files", request.files);
  visit("inputs", request.inputs);
  visit("functions", request.functions);
  visit("call", run.call);
  visit("stream", run.stream);
}

// Stores one item of the dict in `run` and `limits`.
void Take(std::string_view key, const py::handle& value, RunRequest& run,
          core::RequestedLimits& limits) {
  if (key == "validate") {
    run.request.mode = host::Request::Mode::kValidate;
    run.request.wants_analysis = true;
    return;
  }
  bool is_known = false;
  VisitItems(run, limits, [&](std::string_view name, auto& item) {
    if (name != key) return;
    Read(value, item);
    is_known = true;
  });
  if (!is_known) throw std::logic_error("unknown key: " + std::string(key));
}

}  // namespace

OpenRequest OpenRequestFrom(const py::dict& options) {
  OpenRequest open_request;
  open_request.profile = Item<std::string>(options, "profile");
  open_request.language = Item<std::string>(options, "language");
  open_request.allows_missing_layers = !Item<bool>(options, "strict");
  open_request.without_policy = Item<bool>(options, "without_policy");
  open_request.allowed_domains = Item<Strings>(options, "allow_domains");
  open_request.allow_private = Item<Strings>(options, "allow_private");
  open_request.spares = OptionalItem<size_t>(options, "spares");
  open_request.packages = Item<Strings>(options, "packages");
  open_request.source = {.index = Item<std::string>(options, "package_index"),
                         .npm_registry = Item<std::string>(options, "npm_registry"),
                         .hosts = Item<Strings>(options, "package_hosts"),
                         .allow_private = Item<Strings>(options, "package_allow_private"),
                         .resolve = {}};
  const auto container = OptionalItem<py::dict>(options, "container");
  if (!container) return open_request;
  const auto text = [&](const char* key) { return Item<std::string>(*container, key); };
  ContainerRequest& into = open_request.container.emplace();
  into.selection = {.engine = text("engine"),
                    .socket = text("socket"),
                    .runtime = text("runtime"),
                    .require_gvisor = Item<bool>(*container, "require_gvisor"),
                    .image = text("image"),
                    .folder = ""};
  return open_request;
}

Defaults DefaultsFrom(const py::dict& requested, const core::Profile& profile,
                      outside::Policy policy) {
  RunRequest read;
  Defaults defaults;
  for (const auto& [key, value] : requested) Take(TextView(key), value, read, defaults.limits);
  defaults.request = std::move(read.request);
  defaults.request.limits = LimitsFrom(defaults.limits, profile);
  defaults.request.wants_analysis = false;
  defaults.request.exact_types = true;
  OrBadArgument(outside::CheckProgram(profile, defaults.request));
  CheckImports(defaults.request.allowed_imports, profile, policy);
  return defaults;
}

host::Request ProgramFrom(const py::dict& requested) {
  RunRequest read;
  core::RequestedLimits limits;
  for (const char* const key : {"source", "files", "allowed_imports"}) {
    if (requested.contains(key)) Take(key, requested[key], read, limits);
  }
  return std::move(read.request);
}

RunRequest RunRequestFrom(const py::dict& requested, const Engine& engine) {
  return RunRequestFrom(requested, engine, engine.defaults().limits);
}

RunRequest RunRequestFrom(const py::dict& requested, const Engine& engine,
                          core::RequestedLimits limits) {
  const Opened& opened = engine.opened();
  RunRequest read{.request = engine.defaults().request};
  for (const auto& [key, value] : requested) Take(TextView(key), value, read, limits);
  host::Request& request = read.request;
  request.limits = LimitsFrom(limits, opened.profile);
  OrBadArgument(outside::CheckProgram(opened.profile, request));
  CheckImports(request.allowed_imports, opened.profile, opened.policy);
  CheckDomains(request.allowed_domains, opened);
  OrBadArgument(host::CheckArguments(request));
  CheckFiles(request.files, opened.profile);
  return read;
}

SessionRequest SessionRequestFrom(const py::dict& requested, const Engine& engine) {
  SessionRequest session{.options = {}, .limits = engine.defaults().limits};
  RunRequest read;
  for (const auto& [key, value] : requested) {
    const std::string_view name = TextView(key);
    if (name == "checkpoints") {
      session.options.checkpoints = py::cast<size_t>(value);
    } else if (name == "total_memory") {
      session.options.total_memory = core::Bytes{py::cast<uint64_t>(value)};
    } else if (name == "project") {
      session.options.project = py::cast<std::string>(value);
    } else {
      Take(name, value, read, session.limits);
    }
  }
  session.options.limits = LimitsFrom(session.limits, engine.profile());
  return session;
}

std::vector<host::InputFile> FilesFrom(const py::handle& list, const core::Profile& profile) {
  std::vector<host::InputFile> files = PairsFrom<host::InputFile>(list);
  CheckFiles(files, profile);
  return files;
}

int64_t ParseMilliseconds(const std::string& text) {
  const core::Result<std::chrono::milliseconds> parsed = core::ParseDuration(text);
  if (!parsed) Refuse(core::Quoted(text) + ": " + parsed.error().detail);
  return parsed->count();
}

uint64_t ParseBytes(const std::string& text) {
  const core::Result<core::Bytes> parsed = core::Bytes::Parse(text);
  if (!parsed) Refuse(core::Quoted(text) + ": " + parsed.error().detail);
  return parsed->count;
}

}  // namespace belljar::python
