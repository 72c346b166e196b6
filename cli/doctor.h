// `belljar doctor`: what this machine can give, shown and tried.
#ifndef BELLJAR_CLI_DOCTOR_H_
#define BELLJAR_CLI_DOCTOR_H_

#include "cli/option_table.h"

namespace belljar {

Command MakeDoctorCommand(CLI::App& app);

}  // namespace belljar

#endif  // BELLJAR_CLI_DOCTOR_H_
