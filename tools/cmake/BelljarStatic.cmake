# C++ libraries without their shared forms, under the names of their packages: a wheel brings what it
# is made of. Debian's packages of the first two define only the shared form as targets; of the last
# there is no static form, and tools/wheels/sysroot compiles it.

function(belljar_static_library name target header archive)
  find_path(${name}_headers NAMES "${header}")
  set(found "${${name}_headers}")
  add_library(${target} INTERFACE IMPORTED)
  if(archive)
    find_library(${name}_archive NAMES "${archive}")
    target_link_libraries(${target} INTERFACE "${${name}_archive}")
    if(NOT ${name}_archive)
      set(found "")
    endif()
  endif()
  if(found)
    set(${name}_FOUND TRUE PARENT_SCOPE)
  endif()
endfunction()

belljar_static_library(tomlplusplus tomlplusplus::tomlplusplus toml++/toml.h "")
# Otherwise it parses floating-point numbers with an iostream: 150 kB of locales in each program.
target_compile_definitions(tomlplusplus::tomlplusplus INTERFACE TOML_FLOAT_CHARCONV=1)
belljar_static_library(spdlog spdlog::spdlog spdlog/spdlog.h "")
target_compile_definitions(spdlog::spdlog INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)
belljar_static_library(pugixml pugixml::pugixml pugixml.hpp libpugixml.a)
belljar_static_library(prometheus-cpp prometheus-cpp::core prometheus/registry.h
                       libprometheus-cpp-core.a)
target_compile_definitions(prometheus-cpp::core INTERFACE PROMETHEUS_CPP_CORE_STATIC_DEFINE)
