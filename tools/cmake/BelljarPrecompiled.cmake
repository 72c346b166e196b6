# Headers of others that half of the files read (tools/cmake/precompiled/), compiled once. A source
# includes what it uses all the same: the preset tidy builds without any of this, and so does clang.
#
# What is compiled by one command line can be used by another that says the same: there is one for the
# libraries, and a program or an extension, which has options of its own, makes its own.

set(precompile OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(precompile ON)
endif()
option(BELLJAR_PRECOMPILE "Precompile the headers of libraries: a first build in half the time" ${precompile})

if(BELLJAR_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # ccache sees by this which precompiled header went into a file.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>")
  # Through a precompiled header gcc 12 forgets that <string> is a system header, and reports its own
  # mistakes about it (GCC bugs 105329 and 105651, fixed in 13).
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread>")
  endif()
endif()

# belljar_precompile(NAME TARGET...): precompiled/NAME.h for these libraries.
function(belljar_precompile name)
  if(NOT BELLJAR_PRECOMPILE)
    return()
  endif()
  set(maker "belljar_precompiled_${name}")
  if(NOT TARGET ${maker})
    set(source "${CMAKE_BINARY_DIR}/precompiled_${name}.cc")
    file(CONFIGURE OUTPUT "${source}" CONTENT "")
    add_library(${maker} OBJECT EXCLUDE_FROM_ALL "${source}")
    target_link_libraries(${maker} PRIVATE Boost::headers)
    belljar_precompile_alone(${name} ${maker})
  endif()
  foreach(target IN LISTS ARGN)
    target_precompile_headers(${target} REUSE_FROM ${maker})
  endforeach()
endfunction()

# belljar_precompile_alone(NAME TARGET): the same for one target with options of its own. By <>: what
# CMake writes then names no clone, and a compiler cache gives one what another has made.
function(belljar_precompile_alone name target)
  if(BELLJAR_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE "<tools/cmake/precompiled/${name}.h>")
  endif()
endfunction()
