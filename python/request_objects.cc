#include "python/request_objects.h"

#include <pybind11/stl.h>

#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/limits.h"
#include "engine/core/text.h"
#include "engine/outside/profile_catalogue.h"
#include "engine/outside/workspace.h"
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
  throw BadArgument{MakeError(std::move(message), "")};
}

void CheckMost(const char* name, bool is_over, const std::string& asked, const std::string& most,
               const Profile& profile) {
  if (!is_over) return;
  Refuse(std::string(name) + ": " + asked + " is over " + most + ", the maximum of profile " +
         profile.name);
}

// `asked` in place of the profile's own.
Limits LimitsFrom(const AskedLimits& asked, const Profile& profile) {
  using std::chrono::milliseconds;
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
  check_time("timeout", asked.timeout, most.timeout);
  check_time("cpu", asked.cpu, most.cpu);
  check_size("memory", asked.memory, most.memory);
  check_size("output", asked.output, most.output);
  return WithAsked(profile.default_limits, most, asked);
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

// Pairs of a name and what it is for.
template <typename Pair>
std::vector<Pair> PairsFrom(const py::handle& list) {
  std::vector<Pair> given;
  for (const py::handle item : list) {
    const auto pair = py::reinterpret_borrow<py::tuple>(item);
    given.push_back({py::cast<std::string>(pair[0]), py::cast<std::string>(pair[1])});
  }
  return given;
}

std::chrono::milliseconds Milliseconds(const py::handle& count) {
  return std::chrono::milliseconds(py::cast<int64_t>(count));
}

// Into `asked` and `limits` what one item of the dict says.
void Take(std::string_view key, const py::handle& value, Asked& asked, AskedLimits& limits) {
  Request& request = asked.request;
  if (key == "source") {
    request.source = py::cast<std::string>(value);
  } else if (key == "validate") {
    request.mode = Request::Mode::kValidate;
    request.wants_analysis = true;
  } else if (key == "filename") {
    request.filename = py::cast<std::string>(value);
  } else if (key == "stdin") {
    request.standard_input = py::cast<std::string>(value);
  } else if (key == "timeout") {
    limits.timeout = Milliseconds(value);
  } else if (key == "cpu") {
    limits.cpu = Milliseconds(value);
  } else if (key == "memory") {
    limits.memory = Bytes{py::cast<uint64_t>(value)};
  } else if (key == "output") {
    limits.output = Bytes{py::cast<uint64_t>(value)};
  } else if (key == "allowed_imports") {
    request.allowed_imports = py::cast<Strings>(value);
  } else if (key == "allowed_domains") {
    request.allowed_domains = py::cast<Strings>(value);
  } else if (key == "files") {
    request.files = PairsFrom<InputFile>(value);
  } else if (key == "inputs") {
    request.inputs = PairsFrom<InputVariable>(value);
  } else if (key == "functions") {
    request.functions = py::cast<Strings>(value);
  } else if (key == "call") {
    asked.call = py::reinterpret_borrow<py::object>(value);
  } else if (key == "stream") {
    asked.stream = py::reinterpret_borrow<py::object>(value);
  } else {
    throw std::logic_error("a key that there is not: " + std::string(key));
  }
}

}  // namespace

Wishes WishesFrom(const py::dict& options) {
  Wishes wishes;
  wishes.profile = Item<std::string>(options, "profile");
  wishes.is_strict = Item<bool>(options, "strict");
  wishes.is_restricted = Item<bool>(options, "restricted");
  wishes.allowed_domains = Item<Strings>(options, "allow_domains");
  wishes.allow_private = Item<Strings>(options, "allow_private");
  wishes.spares = OptionalItem<size_t>(options, "spares");
  const auto container = OptionalItem<py::dict>(options, "container");
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

Usual UsualFrom(const py::dict& asked, const Profile& profile, Language language) {
  Asked read;
  Usual usual;
  for (const auto& [key, value] : asked) Take(TextView(key), value, read, usual.limits);
  usual.request = std::move(read.request);
  usual.request.limits = LimitsFrom(usual.limits, profile);
  usual.request.wants_analysis = false;
  usual.request.exact_types = true;
  CheckImports(usual.request.allowed_imports, profile, language);
  return usual;
}

Asked AskedFrom(const py::dict& asked, const Engine& engine) {
  const Opened& opened = engine.opened();
  Asked read{.request = engine.usual().request};
  AskedLimits limits = engine.usual().limits;
  for (const auto& [key, value] : asked) Take(TextView(key), value, read, limits);
  Request& request = read.request;
  request.limits = LimitsFrom(limits, opened.profile);
  CheckImports(request.allowed_imports, opened.profile, opened.language);
  CheckDomains(request.allowed_domains, opened);
  if (const Result<void> checked = CheckFiles(request.files, opened.profile); !checked) {
    Refuse("files: " + checked.error().ToString());
  }
  return read;
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
