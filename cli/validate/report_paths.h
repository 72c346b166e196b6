// Files as the readers of reports name them: URIs, and paths from the root of a repository.
#ifndef BELLJAR_CLI_VALIDATE_REPORT_PATHS_H_
#define BELLJAR_CLI_VALIDATE_REPORT_PATHS_H_

#include <string>
#include <string_view>

#include "cli/validate/report.h"

namespace belljar::cli::validate {

// What a checked standard input is called; no file has this path.
inline constexpr char kStandardInputName[] = "<stdin>";

// The absolute folder that relative paths start from, without a slash at its end.
std::string RootOf(const ReportHeader& header);

// `path` made absolute and free of "." and "..", as text: nothing is looked up, links stay.
std::string AbsolutePath(const std::string& root, const std::string& path);

// `path` as seen from `folder` if it is below it, else absolute. `folder` is absolute.
std::string PathFrom(const std::string& folder, const std::string& root, const std::string& path);

// `path` from the root of the repository that a pipeline checked out: `variable` is where the
// pipeline says so (GITHUB_WORKSPACE, CI_PROJECT_DIR); without it, from `root`.
std::string RepositoryPath(const char* variable, const std::string& root, const std::string& path);

// Percent-encoded as a URI wants it; slashes stay.
std::string UriPath(std::string_view path);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_REPORT_PATHS_H_
