#include "cli/language_choice.h"

#include "engine/profiles/languages.h"

namespace belljar::cli {
namespace {

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

}  // namespace belljar::cli
