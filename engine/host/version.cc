#include "engine/host/version.h"

namespace belljar::host {

const char* const kBelljarVersion = BELLJAR_VERSION;
const char* const kPythonVersion = BELLJAR_PYTHON_VERSION;

}  // namespace belljar::host
