// ParseToml: the TOML reader of profiles, of the server's configuration and of `belljar validate`.
#ifndef BELLJAR_ENGINE_PROFILES_TOML_TEXT_H_
#define BELLJAR_ENGINE_PROFILES_TOML_TEXT_H_

#include <toml++/toml.h>

#include <string>
#include <string_view>

#include "engine/core/result.h"

namespace belljar::profiles {

// An error begins with the place: "belljar.toml:3:7: …". `path` is in errors and in the regions of
// the nodes.
core::Result<toml::table> ParseToml(std::string_view text, const std::string& path);

}  // namespace belljar::profiles

#endif  // BELLJAR_ENGINE_PROFILES_TOML_TEXT_H_
