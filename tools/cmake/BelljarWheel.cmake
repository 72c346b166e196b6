# A wheel, as built by pip from pyproject.toml (scikit-build-core, which sets SKBUILD): the same
# programs, in the layout of a Python environment, and the zygote as a module for its interpreter.
#
#   SCRIPTS/belljar                        <env>/bin/belljar
#   belljar/_installation/libexec/belljar  belljar-zygote.so, belljar-preload.so, belljar-guest
#   belljar/_installation/share/belljar    as everywhere

set(BELLJAR_WHEEL OFF)
if(NOT SKBUILD)
  return()
endif()
set(BELLJAR_WHEEL ON)

# Only for the environment for which pip builds it.
set(BELLJAR_PYTHON "${Python3_EXECUTABLE}")
set(BELLJAR_WHEEL_ROOT "belljar/_installation")
set(CMAKE_INSTALL_BINDIR "${SKBUILD_SCRIPTS_DIR}")
set(CMAKE_INSTALL_LIBEXECDIR "${BELLJAR_WHEEL_ROOT}/libexec")
set(CMAKE_INSTALL_DATADIR "${BELLJAR_WHEEL_ROOT}/share")

# The licences of what is linked statically; tools/wheels/sysroot.sh collects them.
if(BELLJAR_SYSROOT)
  # A seventh of a wheel (docs/releasing.md, "Size"). Elsewhere linking would take most of each build.
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  install(DIRECTORY "${BELLJAR_SYSROOT}/licences/" DESTINATION "${SKBUILD_METADATA_DIR}/licenses/libraries")
endif()
