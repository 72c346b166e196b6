# A toolchain file for wheels: this machine's compiler, with the C library of an older system, so that
# the programs also run on systems that are older than this one (docs/releasing.md, "Old systems").
# tools/wheels/sysroot.sh makes BELLJAR_SYSROOT.
#
# libstdc++ becomes part of each program: that of an old system lacks what this compiler uses. libgcc_s
# stays shared: its static form in GCC 12 needs _dl_find_object of glibc 2.35, and there must be one
# unwinder in a process.

# BELLJAR_TRIPLET: x86_64-linux-gnu or aarch64-linux-gnu, whose compiler is then Debian's cross compiler.

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BELLJAR_SYSROOT BELLJAR_TRIPLET)
string(REGEX MATCH "^[^-]+" old_glibc_processor "${BELLJAR_TRIPLET}")
if(NOT old_glibc_processor STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR "${old_glibc_processor}")
  set(CMAKE_C_COMPILER "${BELLJAR_TRIPLET}-gcc")
  set(CMAKE_CXX_COMPILER "${BELLJAR_TRIPLET}-g++")
  set(CMAKE_LIBRARY_ARCHITECTURE "${BELLJAR_TRIPLET}")
  # A cross compiler has headers of a C library of its own, before those of any sysroot.
  execute_process(COMMAND "${CMAKE_C_COMPILER}" -print-file-name=include
                  OUTPUT_VARIABLE old_glibc_own OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(old_glibc_c "-isystem ${old_glibc_own} -isystem =/usr/include/${BELLJAR_TRIPLET} -isystem =/usr/include")
  set(old_glibc_cxx "-nostdinc -isystem =/usr/include/c++/12 \
-isystem =/usr/include/${BELLJAR_TRIPLET}/c++/12 ${old_glibc_c}")
  set(old_glibc_c "-nostdinc ${old_glibc_c}")
endif()
set(CMAKE_SYSROOT "${BELLJAR_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${BELLJAR_SYSROOT}/usr/lib/${BELLJAR_TRIPLET}/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${BELLJAR_SYSROOT}")
# Packages may also be in the environment of the build: pybind11.
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

set(BELLJAR_STATIC_LIBRARIES ON)
# The same bytes wherever they are built.
get_filename_component(source "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(old_glibc_flags "-ffile-prefix-map=${source}=. -ffile-prefix-map=${BELLJAR_SYSROOT}=")
# A program takes only the functions that it uses, not all of each source: a quarter of a wheel.
string(APPEND old_glibc_flags " -ffunction-sections -fdata-sections")
set(CMAKE_C_FLAGS_INIT "${old_glibc_flags} ${old_glibc_c}")
# libstdc++'s own configuration is for the newer C library.
set(CMAKE_CXX_FLAGS_INIT
    "${old_glibc_flags} -include ${source}/tools/wheels/old_glibc.h ${old_glibc_cxx}")
# -B, -L: before the compiler's own folders, which are this machine's whatever --sysroot says.
# --exclude-libs: nothing of a static library is visible to other libraries in the process.
# gold: of functions with the same instructions, as templates have many, it keeps one.
set(old_glibc_libraries
    "-B${BELLJAR_SYSROOT}/usr/lib/${BELLJAR_TRIPLET} -L${BELLJAR_SYSROOT}/usr/lib/${BELLJAR_TRIPLET} \
-L${BELLJAR_SYSROOT}/lib/${BELLJAR_TRIPLET}")
foreach(kind IN ITEMS EXE MODULE SHARED)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT
      "${old_glibc_libraries} -static-libstdc++ -Wl,--exclude-libs,ALL -Wl,--as-needed \
-Wl,--gc-sections -fuse-ld=gold -Wl,--icf=safe")
endforeach()
# Separate libraries until glibc 2.34.
set(CMAKE_C_STANDARD_LIBRARIES "-lpthread -ldl -lrt")
set(CMAKE_CXX_STANDARD_LIBRARIES "${BELLJAR_SYSROOT}/usr/lib/old_glibc.o -lpthread -ldl -lrt -lm")
