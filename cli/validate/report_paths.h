// File names for reports: paths from the root of a repository.
#ifndef BELLJAR_CLI_VALIDATE_REPORT_PATHS_H_
#define BELLJAR_CLI_VALIDATE_REPORT_PATHS_H_

#include <string>

#include "cli/validate/report.h"

namespace belljar::cli::validate {

// The name of standard input in reports; not a valid path of a file.
inline constexpr char kStandardInputName[] = "<stdin>";

// The absolute base of relative paths, without a trailing slash.
std::string RootOf(const ReportHeader& header);

// `path` made absolute, without "." and "..". Purely lexical: links are not resolved.
std::string AbsolutePath(const std::string& root, const std::string& path);

// `path` relative to the absolute `folder` if below it, else absolute.
std::string PathFrom(const std::string& folder, const std::string& root, const std::string& path);

// `path` relative to the root of the repository in a pipeline, which the environment variable
// `variable` names (GITHUB_WORKSPACE, CI_PROJECT_DIR); relative to `root` if it is not set.
std::string RepositoryPath(const char* variable, const std::string& root, const std::string& path);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_REPORT_PATHS_H_
