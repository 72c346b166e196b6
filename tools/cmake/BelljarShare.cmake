# belljar_share: the files that belljar reads at run time, laid out as they are when installed.
#
#   share/belljar/policy/belljar_policy/   the language policy
#   share/belljar/runner/                  what runs inside a worker: belljar_runner(.py)
#   share/belljar/profiles/*.toml
#   share/belljar/installer/               what installs packages in a container
#   share/belljar/rules.json               the policy's rules, for the command
#   share/belljar/patterns                 the standard library's regular expressions, compiled
#   share/belljar/site-packages            link to the virtual environment's packages
#   share/belljar/packages/SET             link to those of a set that profiles name, there or not
#   share/belljar/requirements/SET.txt     what such a set is made of
#   share/belljar/requirements/SET.pins    the same, by names and versions alone

set(BELLJAR_SHARE_DIR "${CMAKE_BINARY_DIR}/share/belljar")

# CONFIGURE_DEPENDS: a file added, changed or removed is seen by the next build.
file(GLOB_RECURSE share_sources CONFIGURE_DEPENDS
     "${CMAKE_SOURCE_DIR}/policy/belljar_policy/*.py"
     "${CMAKE_SOURCE_DIR}/policy/belljar_policy/*.toml"
     "${CMAKE_SOURCE_DIR}/policy/belljar_policy/*.json"
     "${CMAKE_SOURCE_DIR}/engine/inside/runner.py"
     "${CMAKE_SOURCE_DIR}/engine/inside/runner/*.py"
     "${CMAKE_SOURCE_DIR}/profiles/*.toml"
     "${CMAKE_SOURCE_DIR}/container/packages/*.py"
     "${CMAKE_SOURCE_DIR}/container/packages/*.toml"
     "${CMAKE_SOURCE_DIR}/profiles/exports/*.txt")
list(FILTER share_sources EXCLUDE REGEX "/profiles/surface/")

# ./dev setup SET makes a virtual environment of each set; a build does without. {set}: its name.
set(BELLJAR_SET_PACKAGES
    "${BELLJAR_VENV}-{set}/lib/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/site-packages")
file(GLOB share_requirements CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/requirements/*.txt")

# A wheel shows the same paths wherever it was built.
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

# Without this file a zygote starts too, and compiles them each time.
set(share_patterns "${BELLJAR_SHARE_DIR}/patterns")
add_custom_command(
  OUTPUT "${share_patterns}"
  COMMAND "${Python3_EXECUTABLE}" -I "${CMAKE_SOURCE_DIR}/tools/keep_patterns.py"
          --share "${BELLJAR_SHARE_DIR}" --output "${share_patterns}"
          --profile "${CMAKE_SOURCE_DIR}/profiles/basic.toml"
  DEPENDS "${share_stamp}" "${CMAKE_SOURCE_DIR}/tools/keep_patterns.py"
          "${CMAKE_SOURCE_DIR}/tools/walk_surface.py" "${Python3_EXECUTABLE}"
  COMMENT "Compiling the regular expressions of Python ${Python3_VERSION} ahead"
  VERBATIM)
add_custom_target(belljar_share ALL DEPENDS "${share_stamp}" "${share_patterns}")

# belljar_surface: nothing that this Python gives a guest is unseen (docs/policy.md, "The surface").
# BELLJAR_SURFACE=warn is for building with a release that brings what nobody has judged yet.
set(BELLJAR_SURFACE "check" CACHE STRING
    "Names of this Python that nobody has judged: check (the build fails) or warn")
set_property(CACHE BELLJAR_SURFACE PROPERTY STRINGS check warn)
set(surface_flags "")
if(BELLJAR_SURFACE STREQUAL "warn")
  message(WARNING "BELLJAR_SURFACE=warn: what Python ${Python3_VERSION} gives a guest may be unseen")
  set(surface_flags --warn)
elseif(NOT BELLJAR_SURFACE STREQUAL "check")
  message(FATAL_ERROR "BELLJAR_SURFACE=${BELLJAR_SURFACE}: it is check or warn")
endif()

file(GLOB surface_lists CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/profiles/surface/*")
set(surface_policy ${share_sources})
list(FILTER surface_policy EXCLUDE REGEX "/engine/inside/")
# What is installed is judged; what is not yet, when it is.
file(GLOB installed_sets CONFIGURE_DEPENDS "${BELLJAR_VENV}-*/complete")
# The version is in the stamp's name: a package manager gives a new interpreter an old time.
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
  COMMENT "Checking what Python ${Python3_VERSION} gives a guest"
  VERBATIM)
add_custom_target(belljar_surface ALL DEPENDS "${surface_stamp}")

# A wheel's environment has the packages of profiles beside it, installed by pip by extras' pins.
set(share_left_out "")
if(BELLJAR_WHEEL)
  set(share_left_out REGEX "/share/belljar/requirements/[^/]*\\.txt$" EXCLUDE)
endif()
install(DIRECTORY "${BELLJAR_SHARE_DIR}/" DESTINATION "${CMAKE_INSTALL_DATADIR}/belljar"
        PATTERN site-packages EXCLUDE REGEX "/share/belljar/packages$" EXCLUDE ${share_left_out})
# The links become copies: an installation does not depend on the build tree.
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
