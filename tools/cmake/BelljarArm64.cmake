# A toolchain file for 64-bit Arm: Debian's cross compiler, with Debian's packages of that architecture
# in BELLJAR_SYSTEM, where tools/arm64/system.sh has unpacked them. What the build itself runs is this
# machine's Python, which must be of the same minor version.

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BELLJAR_SYSTEM)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT "${BELLJAR_SYSTEM}")
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(ENV{PKG_CONFIG_LIBDIR}
    "${BELLJAR_SYSTEM}/usr/lib/aarch64-linux-gnu/pkgconfig:${BELLJAR_SYSTEM}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${BELLJAR_SYSTEM}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# FindPython would ask the interpreter, which is this machine's.
file(GLOB arm64_python LIST_DIRECTORIES true RELATIVE "${BELLJAR_SYSTEM}/usr/include"
     "${BELLJAR_SYSTEM}/usr/include/python3.*")
set(Python3_INCLUDE_DIR "${BELLJAR_SYSTEM}/usr/include/${arm64_python}" CACHE PATH "")
set(Python3_LIBRARY "${BELLJAR_SYSTEM}/usr/lib/aarch64-linux-gnu/lib${arm64_python}.so" CACHE FILEPATH "")
string(REPLACE "python3." "3" arm64_soabi "${arm64_python}")
set(PYTHON_MODULE_EXTENSION ".cpython-${arm64_soabi}-aarch64-linux-gnu.so" CACHE INTERNAL "")

# Otherwise the build would run each test program to list its tests.
set(CMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE PRE_TEST)
