// The format "sarif": one log in SARIF 2.1.0 (OASIS), for code scanning.
#ifndef BELLJAR_CLI_VALIDATE_SARIF_FORMAT_H_
#define BELLJAR_CLI_VALIDATE_SARIF_FORMAT_H_

#include <memory>
#include <vector>

#include "cli/validate/formats.h"
#include "cli/validate/rules.h"

namespace belljar::cli::validate {

std::unique_ptr<ReportWriter> MakeSarifWriter(const ReportHeader& header, std::vector<Rule> rules);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_SARIF_FORMAT_H_
