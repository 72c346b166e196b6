// The format "github": workflow commands, which GitHub shows as annotations in the changed files.
#ifndef BELLJAR_CLI_VALIDATE_GITHUB_FORMAT_H_
#define BELLJAR_CLI_VALIDATE_GITHUB_FORMAT_H_

#include <memory>

#include "cli/validate/formats.h"

namespace belljar::cli::validate {

std::unique_ptr<ReportWriter> MakeGithubWriter(const ReportHeader& header);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_GITHUB_FORMAT_H_
