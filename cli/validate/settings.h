// Settings of `belljar validate`: defaults, configuration file and command line, in increasing
// order of precedence. `origins` records the source of each value.
//
//   Settings settings;                                   // defaults
//   Result<void> read = ReadSettings(*found, settings);  // settings_file.h
//   settings.jobs = 4;
//   settings.origins["jobs"] = "--jobs";
#ifndef BELLJAR_CLI_VALIDATE_SETTINGS_H_
#define BELLJAR_CLI_VALIDATE_SETTINGS_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace belljar::cli::validate {

// Rules that are not reported in matching files.
struct PerFileIgnore {
  std::string pattern;
  std::vector<std::string> rules;  // ids or prefixes of ids
};

struct Settings {
  std::string file;    // the file that was read; empty: none
  std::string folder;  // absolute: the folder of the file, or else the working directory

  std::optional<std::string> profile;
  std::optional<std::vector<std::string>> allowed_imports;
  std::vector<std::string> include = {"*.py"};
  std::string include_folder;  // absolute; base of the patterns
  std::vector<std::string> exclude;
  std::string exclude_folder;
  std::vector<std::string> select;  // empty: all
  std::vector<std::string> ignore;
  std::vector<PerFileIgnore> per_file_ignores;
  std::string format = "text";
  std::optional<std::string> baseline;  // a path; in the file, relative to its folder
  bool allow_ignore_comments = false;
  bool ignore_files = true;
  size_t jobs = 0;  // 0: the number of processors

  std::map<std::string, std::string> origins;  // key -> source; missing for defaults
};

// The keys that a file may have, in display order.
const std::vector<std::string>& SettingKeys();

inline constexpr size_t kMaxJobs = 256;

// The effective settings as TOML, with the origin of each value.
std::string ShowSettings(const Settings& settings);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_SETTINGS_H_
