// What a session did to its project, as Python objects (belljar/_changes.py).
#ifndef BELLJAR_PYTHON_PROJECTS_H_
#define BELLJAR_PYTHON_PROJECTS_H_

#include <pybind11/pybind11.h>

namespace belljar::python {

void DefineProjects(pybind11::module_& module);

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_PROJECTS_H_
