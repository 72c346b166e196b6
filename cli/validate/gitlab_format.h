// The format "gitlab": a Code Quality report, which GitLab shows in a merge request.
#ifndef BELLJAR_CLI_VALIDATE_GITLAB_FORMAT_H_
#define BELLJAR_CLI_VALIDATE_GITLAB_FORMAT_H_

#include <memory>

#include "cli/validate/formats.h"

namespace belljar::cli::validate {

std::unique_ptr<ReportWriter> MakeGitlabWriter(const ReportHeader& header);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_GITLAB_FORMAT_H_
