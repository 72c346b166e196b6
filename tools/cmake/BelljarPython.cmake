# The interpreter to embed, determined only by BELLJAR_PYTHON: with a python from PATH (pyenv shims,
# an active virtual environment) the zygote might embed one Python and import the packages of
# another.
#
# Provides Python3::Python (embedding), Python3::Module (extension modules), pybind11::headers,
# pybind11::embed, and BELLJAR_SITE_PACKAGES.

if(NOT EXISTS "${BELLJAR_PYTHON}")
  message(FATAL_ERROR "BELLJAR_PYTHON=${BELLJAR_PYTHON} does not exist")
endif()

# FindPython caches its result: reset it if another interpreter is requested.
if(DEFINED CACHE{BELLJAR_PYTHON_FOUND_FOR}
   AND NOT "$CACHE{BELLJAR_PYTHON_FOUND_FOR}" STREQUAL "${BELLJAR_PYTHON}")
  get_cmake_property(cached CACHE_VARIABLES)
  foreach(name IN LISTS cached)
    if(name MATCHES "^_?Python3_")
      unset(${name} CACHE)
    endif()
  endforeach()
endif()
set(BELLJAR_PYTHON_FOUND_FOR "${BELLJAR_PYTHON}" CACHE INTERNAL "")

set(Python3_EXECUTABLE "${BELLJAR_PYTHON}")
# A wheel is loaded into an interpreter, which already has its libpython.
set(python_parts Interpreter Development.Module)
if(NOT BELLJAR_WHEEL)
  list(APPEND python_parts Development.Embed)
endif()
find_package(Python3 REQUIRED COMPONENTS ${python_parts})
# The policy patches individual functions of the standard library, which differ between minor
# versions. Each of these versions is supported and has its lists in profiles/surface.
set(BELLJAR_PYTHONS 3.11 3.12 3.13 3.14)
if(NOT "${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}" IN_LIST BELLJAR_PYTHONS)
  list(JOIN BELLJAR_PYTHONS ", " known)
  message(FATAL_ERROR "BELLJAR_PYTHON=${BELLJAR_PYTHON} is Python ${Python3_VERSION}; the language "
                      "policy has been reviewed only for ${known} and does not start with another. "
                      "Set BELLJAR_PYTHON to one of those (CONTRIBUTING.md, \"Another Python\").")
endif()
# The guards modify type flags and slots and rely on the GIL.
execute_process(
  COMMAND "${BELLJAR_PYTHON}" -I -c
          "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"
  OUTPUT_VARIABLE gil_disabled OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(gil_disabled)
  message(FATAL_ERROR "BELLJAR_PYTHON=${BELLJAR_PYTHON} is a free-threaded build; the guards "
                      "require the GIL. Choose python3.14 instead of python3.14t")
endif()
# Fibers tell 3.14 where their stacks end, by a function that its first releases do not have.
if(Python3_VERSION VERSION_GREATER_EQUAL 3.14)
  file(STRINGS "${Python3_INCLUDE_DIRS}/cpython/pystate.h" sets_stack
       REGEX PyUnstable_ThreadState_SetStackProtection)
  if(NOT sets_stack)
    message(FATAL_ERROR "BELLJAR_PYTHON=${BELLJAR_PYTHON} is Python ${Python3_VERSION}, which has no "
                        "PyUnstable_ThreadState_SetStackProtection; choose a later release of 3.14")
  endif()
endif()
if(NOT BELLJAR_WHEEL AND Python3_LIBRARIES MATCHES "\\.a$")
  message(FATAL_ERROR "BELLJAR_PYTHON=${BELLJAR_PYTHON} has no shared libpython; "
                      "build it with --enable-shared or choose another")
endif()

set(Python3_FOUND TRUE)  # makes pybind11 use this Python instead of searching again
find_package(pybind11 CONFIG REQUIRED)

set(BELLJAR_SITE_PACKAGES
    "${BELLJAR_VENV}/lib/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/site-packages")
if(BELLJAR_WHEEL)
  # The policy's packages are among the build requirements in pyproject.toml.
  set(BELLJAR_SITE_PACKAGES "${CMAKE_BINARY_DIR}/site-packages")
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/tools/copy_packages.py"
            --requirements "${CMAKE_SOURCE_DIR}/requirements/runtime.txt"
            --target "${BELLJAR_SITE_PACKAGES}"
    COMMAND_ERROR_IS_FATAL ANY)
endif()
message(STATUS "Embedding ${Python3_EXECUTABLE} ${Python3_VERSION} (${Python3_LIBRARIES})")
