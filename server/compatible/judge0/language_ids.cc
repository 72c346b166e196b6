#include "server/compatible/judge0/language_ids.h"

#include <algorithm>
#include <string>

namespace belljar::server::compatible::judge0 {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

const std::vector<LanguageIds>& KnownLanguages() {
  static const std::vector<LanguageIds> known = {{"python", {71, 92, 100, 109, 113}},
                                                 {"bash", {46}},
                                                 {"c", {50, 48, 49, 103}},
                                                 {"cpp", {54, 52, 53, 105}},
                                                 {"go", {60, 95, 106, 107}},
                                                 {"java", {62, 91}},
                                                 {"javascript", {63, 93, 97, 102}},
                                                 {"lua", {64}},
                                                 {"octave", {66}},
                                                 {"perl", {85}},
                                                 {"php", {68, 98}},
                                                 {"r", {80, 99}},
                                                 {"ruby", {72}},
                                                 {"rust", {73, 108}},
                                                 {"sqlite", {82}},
                                                 {"typescript", {74, 94, 101}}};
  return known;
}

std::string_view NameOfId(int id) {
  for (const LanguageIds& each : KnownLanguages()) {
    if (std::ranges::find(each.ids, id) != each.ids.end()) return each.name;
  }
  return {};
}

Json LanguageJson(int id, const Language& language, bool in_detail) {
  const InstalledLanguage& installed = language.installed;
  std::string name = installed.title;
  // "C (GCC)" is "C (GCC 12.2.0)".
  if (name.ends_with(')')) {
    name.back() = ' ';
  } else {
    name += " (";
  }
  name += installed.version.empty() ? "unknown version" : installed.version;
  Json json = {{"id", id}, {"name", name + ")"}};
  if (!in_detail) return json;
  json["is_archived"] = false;
  json["source_file"] = installed.file;
  json["compile_cmd"] = language.compiles() ? Json(installed.compile) : Json();
  json["run_cmd"] = installed.command;
  return json;
}

}  // namespace belljar::server::compatible::judge0
