// Packages that are installed in a session, as Python objects (belljar/_packages.py).
#ifndef BELLJAR_PYTHON_PACKAGES_H_
#define BELLJAR_PYTHON_PACKAGES_H_

#include <pybind11/pybind11.h>

namespace belljar::python {

void DefinePackages(pybind11::module_& module);

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_PACKAGES_H_
