// Settings of `belljar validate`: what holds when nothing is said, what a file says, what the
// command line says; each beats the one before. `origins` remembers who said it.
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

// Findings of these rules, in files that match, are not reported.
struct PerFileIgnore {
  std::string pattern;
  std::vector<std::string> rules;  // ids, or beginnings of ids
};

struct Settings {
  std::string file;    // that was read; empty for none
  std::string folder;  // absolute: the file's, or else the working directory

  std::optional<std::string> profile;
  std::optional<std::vector<std::string>> allowed_imports;
  std::vector<std::string> include = {"*.py"};
  std::string include_folder;  // absolute: what its patterns are relative to
  std::vector<std::string> exclude;
  std::string exclude_folder;
  std::vector<std::string> select;  // empty: all
  std::vector<std::string> ignore;
  std::vector<PerFileIgnore> per_file_ignores;
  std::string format = "text";
  std::optional<std::string> baseline;  // a path; a relative one of the file is of its folder
  bool allow_ignore_comments = false;
  bool ignore_files = true;
  size_t jobs = 0;  // 0: as many as there are processors

  std::map<std::string, std::string> origins;  // key -> who said it; a key without: nobody
};

// The keys that a file may have, in the order in which they are shown.
const std::vector<std::string>& SettingKeys();

inline constexpr size_t kMaxJobs = 256;

// What is in force, as TOML with the origin of each value beside it.
std::string ShowSettings(const Settings& settings);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_SETTINGS_H_
