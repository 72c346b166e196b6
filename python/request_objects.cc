#include "python/request_objects.h"

#include <pybind11/stl.h>

#include <utility>
#include <vector>

#include "engine/core/limits.h"
#include "engine/core/text.h"
#include "engine/outside/profile_catalogue.h"
#include "engine/outside/workspace.h"
#include "python/errors.h"

namespace belljar::python {
namespace {

namespace py = pybind11;
using Strings = std::vector<std::string>;

template <typename T>
T Item(const py::dict& from, const char* key) {
  return py::cast<T>(from[key]);
}

template <typename T>
std::optional<T> Asked(const py::dict& from, const char* key) {
  const py::object item = from[key];
  if (item.is_none()) return std::nullopt;
  return py::cast<T>(item);
}

[[noreturn]] void Refuse(std::string message) {
  throw BadArgument{MakeError(std::move(message), "")};
}

void CheckMost(const char* name, bool is_over, const std::string& asked, const std::string& most,
               const Profile& profile) {
  if (!is_over) return;
  Refuse(std::string(name) + ": " + asked + " is over " + most + ", the maximum of profile " +
         profile.name);
}

Limits LimitsFrom(const py::dict& asked, const Profile& profile) {
  using std::chrono::milliseconds;
  AskedLimits limits;
  const auto time = [&](const char* key) -> std::optional<milliseconds> {
    const auto count = Asked<int64_t>(asked, key);
    return count ? std::optional(milliseconds(*count)) : std::nullopt;
  };
  const auto size = [&](const char* key) -> std::optional<Bytes> {
    const auto count = Asked<uint64_t>(asked, key);
    return count ? std::optional(Bytes{*count}) : std::nullopt;
  };
  limits.timeout = time("timeout");
  limits.cpu = time("cpu");
  limits.memory = size("memory");
  limits.output = size("output");
  const Limits& most = profile.maximum_limits;
  const auto check_time = [&](const char* name, const std::optional<milliseconds>& given,
                              milliseconds maximum) {
    if (given) {
      CheckMost(name, *given > maximum, FormatDuration(*given), FormatDuration(maximum), profile);
    }
  };
  const auto check_size = [&](const char* name, const std::optional<Bytes>& given, Bytes maximum) {
    if (given) CheckMost(name, *given > maximum, given->ToString(), maximum.ToString(), profile);
  };
  check_time("timeout", limits.timeout, most.timeout);
  check_time("cpu", limits.cpu, most.cpu);
  check_size("memory", limits.memory, most.memory);
  check_size("output", limits.output, most.output);
  return WithAsked(profile.default_limits, most, limits);
}

void CheckImports(const std::optional<Strings>& modules, const Profile& profile,
                  Language language) {
  if (!modules) return;
  if (language == Language::kFull) {
    Refuse(
        "allowed_imports: it narrows the language policy, and this sandbox was made with "
        "language=\"full\", which has none");
  }
  OrBadArgument(CheckAllowedImports(*modules, profile, "allowed_imports"));
}

void CheckDomains(const std::optional<Strings>& domains, const Opened& opened) {
  if (!domains) return;
  if (!opened.rules) {
    Refuse("allowed_domains: profile " + opened.profile.name +
           " has no network; it goes with profile=\"network\"");
  }
  const Result<AllowList> narrower = opened.rules->Narrow(*domains);
  if (!narrower) Refuse("allowed_domains: " + narrower.error().ToString());
}

std::vector<InputFile> FilesFrom(const py::list& files) {
  std::vector<InputFile> given;
  for (const py::handle file : files) {
    const auto pair = py::reinterpret_borrow<py::tuple>(file);
    given.push_back({py::cast<std::string>(pair[0]), py::cast<std::string>(pair[1])});
  }
  return given;
}

}  // namespace

Wishes WishesFrom(const py::dict& options) {
  Wishes wishes;
  wishes.profile = Item<std::string>(options, "profile");
  wishes.is_strict = Item<bool>(options, "strict");
  wishes.is_restricted = Item<bool>(options, "restricted");
  wishes.allowed_domains = Item<Strings>(options, "allow_domains");
  wishes.allow_private = Item<Strings>(options, "allow_private");
  wishes.spares = Asked<size_t>(options, "spares");
  const auto container = Asked<py::dict>(options, "container");
  if (!container) return wishes;
  const auto text = [&](const char* key) { return Item<std::string>(*container, key); };
  ContainerWishes& into = wishes.container.emplace();
  into.wish = {.engine = text("engine"),
               .socket = text("socket"),
               .runtime = text("runtime"),
               .require_gvisor = Item<bool>(*container, "require_gvisor"),
               .image = text("image"),
               .folder = ""};
  into.packages = Item<Strings>(*container, "packages");
  into.source = {.index = text("package_index"),
                 .hosts = Item<Strings>(*container, "package_hosts"),
                 .allow_private = Item<Strings>(*container, "package_allow_private"),
                 .resolve = {}};
  return wishes;
}

void CheckUsual(const py::dict& asked, const Profile& profile, Language language) {
  (void)LimitsFrom(asked, profile);
  CheckImports(Asked<Strings>(asked, "allowed_imports"), profile, language);
}

Request RequestFrom(const py::dict& asked, const Opened& opened) {
  Request request;
  const bool validates = Item<bool>(asked, "validate");
  request.mode = validates ? Request::Mode::kValidate : Request::Mode::kRun;
  request.wants_analysis = validates;
  request.source = Item<std::string>(asked, "source");
  request.filename = Item<std::string>(asked, "filename");
  request.standard_input = Asked<std::string>(asked, "stdin");
  request.limits = LimitsFrom(asked, opened.profile);
  request.allowed_imports = Asked<Strings>(asked, "allowed_imports");
  CheckImports(request.allowed_imports, opened.profile, opened.language);
  request.allowed_domains = Asked<Strings>(asked, "allowed_domains");
  CheckDomains(request.allowed_domains, opened);
  request.files = FilesFrom(Item<py::list>(asked, "files"));
  for (const py::handle input : Item<py::list>(asked, "inputs")) {
    const auto pair = py::reinterpret_borrow<py::tuple>(input);
    request.inputs.push_back({py::cast<std::string>(pair[0]), py::cast<std::string>(pair[1])});
  }
  request.functions = Item<Strings>(asked, "functions");
  request.exact_types = true;
  if (const Result<void> checked = CheckFiles(request.files, opened.profile); !checked) {
    Refuse("files: " + checked.error().ToString());
  }
  return request;
}

int64_t ParseMilliseconds(const std::string& text) {
  const Result<std::chrono::milliseconds> parsed = ParseDuration(text);
  if (!parsed) Refuse(Quoted(text) + ": " + parsed.error().detail);
  return parsed->count();
}

uint64_t ParseBytes(const std::string& text) {
  const Result<Bytes> parsed = Bytes::Parse(text);
  if (!parsed) Refuse(Quoted(text) + ": " + parsed.error().detail);
  return parsed->count;
}

}  // namespace belljar::python
