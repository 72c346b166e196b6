// The format "json": one object with all files, their findings and the totals.
#ifndef BELLJAR_CLI_VALIDATE_JSON_FORMAT_H_
#define BELLJAR_CLI_VALIDATE_JSON_FORMAT_H_

#include <memory>

#include "cli/validate/formats.h"

namespace belljar::cli::validate {

std::unique_ptr<ReportWriter> MakeJsonWriter();

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_JSON_FORMAT_H_
