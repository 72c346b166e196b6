# System libraries for the build, checked first, so that users who install with pip see all missing
# ones at once.

find_package(PkgConfig)
if(PkgConfig_FOUND)
  pkg_check_modules(seccomp QUIET IMPORTED_TARGET libseccomp)  # PkgConfig::seccomp
endif()
find_package(Boost 1.74 QUIET)
foreach(package IN ITEMS nlohmann_json CLI11)
  find_package(${package} QUIET)
endforeach()
find_package(Threads REQUIRED)
if(BELLJAR_STATIC_LIBRARIES)
  include(BelljarStatic)
else()
  foreach(package IN ITEMS tomlplusplus pugixml spdlog)
    find_package(${package} QUIET)
  endforeach()
  find_package(prometheus-cpp QUIET COMPONENTS core)
endif()
# Static: only a few functions, and less work for the dynamic linker at each `belljar run`.
# SHA-256, for artifacts and for fingerprints of findings, only on the host.
find_library(BELLJAR_LIBCRYPTO NAMES libcrypto.a)
find_path(BELLJAR_LIBCRYPTO_INCLUDE NAMES openssl/sha.h)
# Ed25519, for the audit log and receipts, only in the command.
find_library(BELLJAR_LIBSODIUM NAMES libsodium.a)
find_path(BELLJAR_LIBSODIUM_INCLUDE NAMES sodium.h)
find_library(BELLJAR_LIBELF NAMES libelf.a)
# That library's code is not position-independent, so it cannot be part of the Python extension.
find_library(BELLJAR_LIBELF_SHARED NAMES elf)
find_path(BELLJAR_LIBELF_INCLUDE NAMES gelf.h)
find_library(BELLJAR_LIBZ NAMES libz.a)
# Line editing, only in the command. Its archive needs the other two, and so does its package.
find_library(BELLJAR_LIBEDIT NAMES libedit.a)
find_path(BELLJAR_LIBEDIT_INCLUDE NAMES histedit.h)
find_library(BELLJAR_LIBTINFO NAMES libtinfo.a)
find_library(BELLJAR_LIBBSD NAMES libbsd.a)
set(edit_FOUND FALSE)
if(BELLJAR_LIBEDIT AND BELLJAR_LIBEDIT_INCLUDE AND BELLJAR_LIBTINFO AND BELLJAR_LIBBSD)
  set(edit_FOUND TRUE)
endif()
# Jobs of the server. The archive needs no other library than libc and libm.
find_library(BELLJAR_LIBSQLITE NAMES libsqlite3.a)
find_path(BELLJAR_LIBSQLITE_INCLUDE NAMES sqlite3.h)
# Only the headers: these libraries are opened when jobs are kept in PostgreSQL, and where there are
# webhooks or traces.
find_path(BELLJAR_LIBPQ_INCLUDE NAMES libpq-fe.h PATH_SUFFIXES postgresql)
find_path(BELLJAR_LIBCURL_INCLUDE NAMES curl/curl.h)

# found, under which name, in which Debian package
set(missing "")
macro(belljar_need found package)
  if(NOT ${found})
    list(APPEND missing "${package}")
  endif()
endmacro()
belljar_need(PkgConfig_FOUND pkg-config)
belljar_need(seccomp_FOUND libseccomp-dev)
belljar_need(Boost_FOUND libboost-dev)
belljar_need(nlohmann_json_FOUND nlohmann-json3-dev)
belljar_need(tomlplusplus_FOUND libtomlplusplus-dev)
belljar_need(CLI11_FOUND libcli11-dev)
belljar_need(pugixml_FOUND libpugixml-dev)
belljar_need(spdlog_FOUND libspdlog-dev)
belljar_need(prometheus-cpp_FOUND prometheus-cpp-dev)
belljar_need(BELLJAR_LIBCRYPTO libssl-dev)
belljar_need(BELLJAR_LIBSODIUM libsodium-dev)
belljar_need(BELLJAR_LIBELF libelf-dev)
belljar_need(BELLJAR_LIBZ zlib1g-dev)
belljar_need(edit_FOUND libedit-dev)
belljar_need(BELLJAR_LIBSQLITE libsqlite3-dev)
belljar_need(BELLJAR_LIBPQ_INCLUDE libpq-dev)
belljar_need(BELLJAR_LIBCURL_INCLUDE libcurl4-openssl-dev)
if(missing)
  list(JOIN missing " " missing)
  message(FATAL_ERROR "Belljar is compiled from source, and these system libraries are missing. "
                      "On Debian 12:\n  apt-get install --no-install-recommends ${missing}\n"
                      "tools/packages.txt lists all build dependencies.\n")
endif()
