#include "cli/validate/needs.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "engine/core/text.h"
#include "engine/profiles/profile_names.h"

namespace belljar::cli::validate {

void Needs::Add(const Judgement& judgement) {
  size_t without_profile = 0;
  for (const ReportedFinding& reported : judgement.checked.findings) {
    const std::string& profile = reported.finding.profile;
    if (profile.empty()) {
      ++without_profile;
    } else {
      profiles_.insert(profile);
    }
  }
  packages_.insert(judgement.missing_packages.begin(), judgement.missing_packages.end());
  // There is one finding of each of them.
  remaining_ += without_profile - std::min(without_profile, judgement.missing_packages.size());
}

std::string Needs::Profile() const {
  std::string joined;
  for (const std::string& profile : profiles_) joined += (joined.empty() ? "" : "+") + profile;
  return profiles::ProfileName(joined);
}

std::string Needs::Text() const {
  std::string packages;
  for (const std::string& package : packages_) {
    packages += (packages.empty() ? "" : ", ") + core::Printable(package);
  }
  return "profile: " + core::Printable(Profile()) +
         "\npackages: " + (packages.empty() ? "none" : packages) +
         "\nfindings that remain: " + WithThousands(remaining_) + "\n";
}

std::string Needs::Json() const {
  const nlohmann::ordered_json object = {
      {"profile", Profile()}, {"packages", packages_}, {"remaining", remaining_}};
  return core::SafeJson(
             object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
         "\n";
}

}  // namespace belljar::cli::validate
