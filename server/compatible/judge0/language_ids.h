// Judge0's numbers for languages, and how it shows a language.
#ifndef BELLJAR_SERVER_COMPATIBLE_JUDGE0_LANGUAGE_IDS_H_
#define BELLJAR_SERVER_COMPATIBLE_JUDGE0_LANGUAGE_IDS_H_

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "server/compatible/languages.h"

namespace belljar::server::compatible::judge0 {

// Judge0's ids of languages. It has one for each version; all of them select the one that this
// server has, whose version is in the name. The first is that of Judge0 1.13.1.
struct LanguageIds {
  std::string_view name;  // Belljar's
  std::vector<int> ids;
};
const std::vector<LanguageIds>& KnownLanguages();
// Empty: unknown id.
std::string_view NameOfId(int id);

// {"id": 71, "name": "Python (3.11.2)"}, in the given detail.
nlohmann::ordered_json LanguageJson(int id, const Language& language, bool in_detail);

}  // namespace belljar::server::compatible::judge0

#endif  // BELLJAR_SERVER_COMPATIBLE_JUDGE0_LANGUAGE_IDS_H_
