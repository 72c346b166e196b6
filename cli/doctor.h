// `belljar doctor`: shows which layers this machine supports, and tests them.
#ifndef BELLJAR_CLI_DOCTOR_H_
#define BELLJAR_CLI_DOCTOR_H_

#include "cli/option_table.h"

namespace belljar::cli {

Command MakeDoctorCommand(CLI::App& app);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_DOCTOR_H_
