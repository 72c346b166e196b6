# belljar_share: the run-time files of belljar, in the same layout as when installed.
#
#   share/belljar/policy/belljar_policy/   the language policy
#   share/belljar/runner/                  the code inside a worker: belljar_runner(.py)
#   share/belljar/profiles/*.toml
#   share/belljar/languages/*.toml
#   share/belljar/installer/               installs packages in a container
#   share/belljar/rules.json               the policy's rules, for the command
#   share/belljar/patterns                 the standard library's regular expressions, compiled
#   share/belljar/hot_blocks/PROFILE.json  which memory its runs write to (inside/hot_blocks.h)
#   share/belljar/site-packages            link to the virtual environment's packages
#   share/belljar/packages/SET             link to a package set named by profiles, installed or not
#   share/belljar/requirements/SET.txt     contents of such a set
#   share/belljar/requirements/SET.pins    the same, names and versions only

set(BELLJAR_SHARE_DIR "${CMAKE_BINARY_DIR}/share/belljar")

# CONFIGURE_DEPENDS: the next build notices added, changed and removed files.
file(GLOB_RECURSE share_sources CONFIGURE_DEPENDS
     "${CMAKE_SOURCE_DIR}/policy/belljar_policy/*.py"
     "${CMAKE_SOURCE_DIR}/policy/belljar_policy/*.toml"
     "${CMAKE_SOURCE_DIR}/policy/belljar_policy/*.json"
     "${CMAKE_SOURCE_DIR}/engine/inside/runner.py"
     "${CMAKE_SOURCE_DIR}/engine/inside/runner/*.py"
     "${CMAKE_SOURCE_DIR}/profiles/*.toml"
     "${CMAKE_SOURCE_DIR}/languages/*.toml"
     "${CMAKE_SOURCE_DIR}/container/packages/*.py"
     "${CMAKE_SOURCE_DIR}/container/packages/*.toml"
     "${CMAKE_SOURCE_DIR}/profiles/exports/*.txt")
list(FILTER share_sources EXCLUDE REGEX "/profiles/surface/")

# ./dev setup SET creates a virtual environment for each set, which builds do not require. {set}:
# its name.
set(BELLJAR_SET_PACKAGES
    "${BELLJAR_VENV}-{set}/lib/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/site-packages")
file(GLOB share_requirements CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/requirements/*.txt")

# Paths shown by a wheel do not depend on where it was built.
set(share_shown "")
if(BELLJAR_WHEEL)
  set(share_shown --shown belljar)
endif()

set(share_stamp "${CMAKE_BINARY_DIR}/share/stamp")
add_custom_command(
  OUTPUT "${share_stamp}"
  COMMAND "${Python3_EXECUTABLE}" -I "${CMAKE_SOURCE_DIR}/tools/stage_share.py"
          --source "${CMAKE_SOURCE_DIR}" --share "${BELLJAR_SHARE_DIR}"
          --site-packages "${BELLJAR_SITE_PACKAGES}" --set-packages "${BELLJAR_SET_PACKAGES}"
          ${share_shown} --stamp "${share_stamp}"
  DEPENDS ${share_sources} ${share_requirements} "${CMAKE_SOURCE_DIR}/tools/stage_share.py"
  COMMENT "Laying out share/belljar"
  VERBATIM)

# Optional: without this file each zygote compiles the regular expressions itself.
set(share_patterns "${BELLJAR_SHARE_DIR}/patterns")
add_custom_command(
  OUTPUT "${share_patterns}"
  COMMAND "${Python3_EXECUTABLE}" -I "${CMAKE_SOURCE_DIR}/tools/keep_patterns.py"
          --share "${BELLJAR_SHARE_DIR}" --output "${share_patterns}"
          --profile "${CMAKE_SOURCE_DIR}/profiles/basic.toml"
  DEPENDS "${share_stamp}" "${CMAKE_SOURCE_DIR}/tools/keep_patterns.py"
          "${CMAKE_SOURCE_DIR}/tools/walk_surface.py" "${Python3_EXECUTABLE}"
  COMMENT "Precompiling the regular expressions of Python ${Python3_VERSION}"
  VERBATIM)

# Only installed packages can be recorded and checked; others are once they are installed.
file(GLOB installed_sets CONFIGURE_DEPENDS "${BELLJAR_VENV}-*/complete")

# Optional: without these files a worker writes to more than twice as many pages.
set(share_hot_blocks "")
if(TARGET belljar-record-hot-blocks)
  set(share_hot_blocks "${CMAKE_BINARY_DIR}/share/hot-blocks-${Python3_VERSION}")
  set(share_zygote "$<TARGET_FILE:belljar-zygote>")
  if(BELLJAR_WHEEL)
    set(share_zygote "${Python3_EXECUTABLE}")
  endif()
  add_custom_command(
    OUTPUT "${share_hot_blocks}"
    COMMAND "${Python3_EXECUTABLE}" -I "${CMAKE_SOURCE_DIR}/tools/hot_blocks/record.py"
            --recorder "$<TARGET_FILE:belljar-record-hot-blocks>" --program "${share_zygote}"
            --share "${BELLJAR_SHARE_DIR}" --stamp "${share_hot_blocks}"
    DEPENDS "${share_stamp}" "${share_patterns}" "${share_zygote}" belljar-record-hot-blocks
            "${CMAKE_SOURCE_DIR}/tools/hot_blocks/record.py" ${installed_sets}
    COMMENT "Recording which memory runs with Python ${Python3_VERSION} write to"
    VERBATIM)
endif()
# The files alone wait for no compiler.
add_custom_target(belljar_share_files DEPENDS "${share_stamp}" "${share_patterns}")
add_custom_target(belljar_share ALL DEPENDS ${share_hot_blocks})
add_dependencies(belljar_share belljar_share_files)

# belljar_surface: checks that all names that this Python exposes to a guest have been reviewed
# (docs/policy-surface.md). BELLJAR_SURFACE=warn is for building with a release that has
# unreviewed names.
set(BELLJAR_SURFACE "check" CACHE STRING
    "Unreviewed names of this Python: check (fail the build) or warn")
set_property(CACHE BELLJAR_SURFACE PROPERTY STRINGS check warn)
set(surface_flags "")
if(BELLJAR_SURFACE STREQUAL "warn")
  message(WARNING "BELLJAR_SURFACE=warn: Python ${Python3_VERSION} may expose unreviewed names to guests")
  set(surface_flags --warn)
elseif(NOT BELLJAR_SURFACE STREQUAL "check")
  message(FATAL_ERROR "BELLJAR_SURFACE=${BELLJAR_SURFACE}: must be check or warn")
endif()

file(GLOB surface_lists CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/profiles/surface/*")
set(surface_policy ${share_sources})
list(FILTER surface_policy EXCLUDE REGEX "/engine/inside/")
# The version is in the stamp's name, because package managers install new interpreters with old
# time stamps.
set(surface_stamp "${CMAKE_BINARY_DIR}/share/surface-${Python3_VERSION}")
add_custom_command(
  OUTPUT "${surface_stamp}"
  COMMAND "${Python3_EXECUTABLE}" -I "${CMAKE_SOURCE_DIR}/tools/surface.py" check ${surface_flags}
          --path "${BELLJAR_SITE_PACKAGES}" --set-packages "${BELLJAR_SET_PACKAGES}"
          --stamp "${surface_stamp}"
  DEPENDS ${surface_policy} ${surface_lists} ${installed_sets}
          "${CMAKE_SOURCE_DIR}/tools/surface.py" "${CMAKE_SOURCE_DIR}/tools/walk_surface.py"
          "${CMAKE_SOURCE_DIR}/tools/profile_document.py" "${Python3_EXECUTABLE}"
          "${CMAKE_SOURCE_DIR}/requirements/runtime.txt"
  COMMENT "Checking the surface of Python ${Python3_VERSION}"
  VERBATIM)
add_custom_target(belljar_surface ALL DEPENDS "${surface_stamp}")

# For a wheel, pip installs the packages of profiles into the same environment, pinned by extras.
set(share_left_out "")
if(BELLJAR_WHEEL)
  set(share_left_out REGEX "/share/belljar/requirements/[^/]*\\.txt$" EXCLUDE)
endif()
install(DIRECTORY "${BELLJAR_SHARE_DIR}/" DESTINATION "${CMAKE_INSTALL_DATADIR}/belljar"
        PATTERN site-packages EXCLUDE REGEX "/share/belljar/packages$" EXCLUDE ${share_left_out})
# Links become copies, so that an installation does not depend on the build tree.
install(DIRECTORY "${BELLJAR_SITE_PACKAGES}/"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/belljar/site-packages")
if(BELLJAR_WHEEL)
  return()
endif()
install(CODE "
  file(GLOB sets \"${BELLJAR_SHARE_DIR}/packages/*\")
  foreach(set IN LISTS sets)
    get_filename_component(name \"\${set}\" NAME)
    file(REAL_PATH \"\${set}\" packages)
    if(IS_DIRECTORY \"\${packages}\")
      file(INSTALL \"\${packages}/\"
           DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/belljar/packages/\${name}\")
    endif()
  endforeach()")
