// The commands of a session for Python: the class LiveCommand, which keeps its session open.
#ifndef BELLJAR_PYTHON_COMMANDS_H_
#define BELLJAR_PYTHON_COMMANDS_H_

#include <pybind11/pybind11.h>

namespace belljar::python {

// Requires DefineSessions.
void DefineCommands(pybind11::module_& module);

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_COMMANDS_H_
