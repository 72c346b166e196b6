// The format "junit": a test case a file, for what reads reports of tests (GitLab, Jenkins, …).
#ifndef BELLJAR_CLI_VALIDATE_JUNIT_FORMAT_H_
#define BELLJAR_CLI_VALIDATE_JUNIT_FORMAT_H_

#include <memory>

#include "cli/validate/formats.h"

namespace belljar::cli::validate {

std::unique_ptr<ReportWriter> MakeJunitWriter(const ReportHeader& header);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_JUNIT_FORMAT_H_
