// The format "text", for humans: one line per finding, its hint below, and a summary.
#ifndef BELLJAR_CLI_VALIDATE_TEXT_FORMAT_H_
#define BELLJAR_CLI_VALIDATE_TEXT_FORMAT_H_

#include <memory>

#include "cli/validate/formats.h"

namespace belljar::cli::validate {

std::unique_ptr<ReportWriter> MakeTextWriter();

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_TEXT_FORMAT_H_
