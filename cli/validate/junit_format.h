// The format "junit": one test case per file, for tools that read test reports (GitLab, Jenkins,
// …).
#ifndef BELLJAR_CLI_VALIDATE_JUNIT_FORMAT_H_
#define BELLJAR_CLI_VALIDATE_JUNIT_FORMAT_H_

#include <memory>

#include "cli/validate/formats.h"

namespace belljar::cli::validate {

std::unique_ptr<ReportWriter> MakeJunitWriter(const ReportHeader& header);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_JUNIT_FORMAT_H_
