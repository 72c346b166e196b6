// ApiTerms: what the operator lets the programs of one compatible API use, and what each of these
// APIs gets of this server.
#ifndef BELLJAR_SERVER_COMPATIBLE_API_TERMS_H_
#define BELLJAR_SERVER_COMPATIBLE_API_TERMS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/core/limits.h"
#include "server/calls/tool.h"

namespace belljar::server::compatible {

struct ApiTerms {
  // Empty: none is named, and each program gets what it needs (engine/profiles/unnamed_profile.h).
  std::string profile;
  std::string setting;         // the operator's, that names it: "fronts.piston"
  bool has_workspace = false;  // there is one: files in and out
  core::Limits limits;         // of requests that ask for none
  core::Limits maximum;
};

// Borrowed from CompatibleApis.
struct ApiTools {
  Tool& execute;
  // Null: this server has no sessions.
  Tool* open_session = nullptr;
  Tool* close_session = nullptr;
};

// A language besides Python that the operator has enabled.
struct InstalledLanguage {
  std::string name;                  // of execute_code: "cpp"
  std::string title;                 // "C++ (GCC)"
  std::string version;               // empty: unknown
  std::vector<std::string> aliases;  // other names
  std::string file;                  // of the source
  std::string compile;               // a command, for people; empty: nothing is compiled
  std::string command;               // likewise
  core::Limits limits;               // as in ApiTerms
  core::Limits maximum;
};

// What clients are told about this server.
struct About {
  std::string version;  // Belljar's
  std::string python_version;
  size_t queue = 0;  // the most calls that may wait
  std::vector<InstalledLanguage> languages = {};
};

// The nearest value that the tool accepts.
double ClampedSeconds(double seconds, const ApiTerms& terms);
double ClampedBytes(double bytes, const ApiTerms& terms);

// What to tell who sends or fetches files.
std::string NoWorkspace(const ApiTerms& terms);
// Arguments of a tool: the profile, if one is named.
nlohmann::json ProfileArgument(const ApiTerms& terms);

}  // namespace belljar::server::compatible

#endif  // BELLJAR_SERVER_COMPATIBLE_API_TERMS_H_
