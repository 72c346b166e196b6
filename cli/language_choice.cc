#include "cli/language_choice.h"

#include <utility>

#include "cli/console.h"
#include "engine/profiles/languages.h"

namespace belljar::cli {
namespace {

constexpr char kNetwork[] = "network";

// Whether a program that no option describes can be in another language: by far most are Python.
bool MayBeOther(std::string_view file, std::string_view source) {
  return source.starts_with("#!") || (file.find('.') != file.npos && !file.ends_with(".py"));
}

}  // namespace

core::Result<std::optional<core::Profile>> ChooseLanguage(
    const std::optional<std::string>& name, std::string_view file, std::string_view source,
    const installation::Installation& installation) {
  if (!name && !MayBeOther(file, source)) return std::optional<core::Profile>();
  core::Result<profiles::LanguageCatalogue> catalogue =
      profiles::LanguageCatalogue::Open(installation);
  if (!catalogue) return catalogue.error();
  if (name) return catalogue->FindInstalled(*name);
  const core::Profile* const of_file = catalogue->OfFile(file, source);
  if (!of_file) return std::optional<core::Profile>();
  return catalogue->FindInstalled(of_file->name);
}

core::Result<std::optional<core::Profile>> ChooseSessionLanguage(
    const std::string& name, const installation::Installation& installation) {
  core::Result<profiles::LanguageCatalogue> catalogue =
      profiles::LanguageCatalogue::Open(installation);
  if (!catalogue) return catalogue.error();
  core::Result<std::optional<core::Profile>> language = catalogue->FindInstalled(name);
  if (language && *language) {
    if (core::Result<void> has = catalogue->NeedSessions(**language); !has) return has.error();
  }
  return language;
}

core::Result<core::Profile> WithChosenNetwork(core::Profile language, const core::Profile& chosen,
                                              const std::optional<std::string>& profile_option,
                                              bool names_hosts,
                                              const profiles::ProfileCatalogue& catalogue) {
  if (profile_option && !chosen.egress) {
    return UsersError("--profile " + *profile_option + " is for Python; " +
                      language.program->title +
                      " programs have files anyway, and --profile network gives them a network");
  }
  if (chosen.egress) return profiles::WithNetwork(std::move(language), chosen);
  if (!names_hosts) return language;
  const core::Result<core::Profile> network = catalogue.Choose(kNetwork);
  if (!network) return network.error();
  return profiles::WithNetwork(std::move(language), *network);
}

}  // namespace belljar::cli
