# Precompiles third-party headers that many files include (tools/cmake/precompiled/). Sources still
# include what they use: the preset tidy and clang build without precompiled headers.
#
# A precompiled header can only be used with the same options: there is one for the libraries, and
# programs and extensions with other options have their own.

set(precompile OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(precompile ON)
endif()
option(BELLJAR_PRECOMPILE "Precompile library headers, which halves the time of a first build" ${precompile})

if(BELLJAR_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Tells ccache which precompiled header was used for a file.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>")
  # In a precompiled header gcc 12 does not recognise <string> as a system header and reports false
  # positives in it (GCC bugs 105329 and 105651, fixed in 13).
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

# belljar_precompile_alone(NAME TARGET): the same for one target with its own options. Uses <>, so
# that the file written by CMake does not contain the path of the clone, and clones share a compiler
# cache.
function(belljar_precompile_alone name target)
  if(BELLJAR_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE "<tools/cmake/precompiled/${name}.h>")
  endif()
endfunction()
