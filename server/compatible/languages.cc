#include "server/compatible/languages.h"

#include <algorithm>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/suggest.h"

namespace belljar::server::compatible {
namespace {

// The only profile that says anything about programs of other languages.
constexpr char kNetwork[] = "network";

// An operator may restrict a token to profiles and languages.
bool Permits(const Caller& caller, const Language& language) {
  return language.is_python || !caller.profiles ||
         core::Contains(*caller.profiles, language.name());
}

}  // namespace

Languages::Languages(const ApiTerms& terms, const About& about) {
  InstalledLanguage python;
  python.name = "python";
  python.title = "Python";
  python.version = about.python_version;
  python.aliases = {"py", "py3", "python3"};
  python.file = "main.py";
  python.command = "python3 main.py";
  all_.push_back({std::move(python), terms, true});
  for (const InstalledLanguage& each : about.languages) {
    const std::string profile = terms.profile == kNetwork ? kNetwork : "";
    all_.push_back({each, {profile, terms.setting, true, each.limits, each.maximum}});
  }
}

const Language* Languages::Find(std::string_view name, const Caller& caller) const {
  const auto found = std::ranges::find_if(
      all_, [&](const Language& each) { return each.name() == name && Permits(caller, each); });
  return found == all_.end() ? nullptr : &*found;
}

std::vector<const Language*> Languages::Of(const Caller& caller) const {
  std::vector<const Language*> permitted;
  for (const Language& each : all_) {
    if (Permits(caller, each)) permitted.push_back(&each);
  }
  return permitted;
}

std::string NotOffered(const std::string& given, const std::vector<std::string>& offered) {
  return "language " + core::Quoted(given) + " is not enabled on this server (" +
         core::Joined(offered) + ")" + host::Suggestion(given, offered) +
         "; an operator enables it with execution.languages";
}

}  // namespace belljar::server::compatible
