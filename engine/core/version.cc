#include "engine/core/version.h"

namespace belljar {

const char* const kBelljarVersion = BELLJAR_VERSION;
const char* const kPythonVersion = BELLJAR_PYTHON_VERSION;

}  // namespace belljar
