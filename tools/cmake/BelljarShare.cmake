# belljar_share: the files that belljar reads at run time, laid out as they are when installed.
#
#   share/belljar/policy/belljar_policy/   the language policy
#   share/belljar/runner/                  what runs inside a worker: belljar_runner(.py)
#   share/belljar/profiles/*.toml
#   share/belljar/rules.json               the policy's rules, for the command
#   share/belljar/site-packages            link to the virtual environment's packages

set(BELLJAR_SHARE_DIR "${CMAKE_BINARY_DIR}/share/belljar")

# CONFIGURE_DEPENDS: a file added, changed or removed is seen by the next build.
file(GLOB_RECURSE share_sources CONFIGURE_DEPENDS
     "${CMAKE_SOURCE_DIR}/policy/belljar_policy/*.py"
     "${CMAKE_SOURCE_DIR}/policy/belljar_policy/*.toml"
     "${CMAKE_SOURCE_DIR}/policy/belljar_policy/*.json"
     "${CMAKE_SOURCE_DIR}/engine/inside/runner.py"
     "${CMAKE_SOURCE_DIR}/engine/inside/runner/*.py"
     "${CMAKE_SOURCE_DIR}/profiles/*.toml")

set(share_stamp "${CMAKE_BINARY_DIR}/share/stamp")
add_custom_command(
  OUTPUT "${share_stamp}"
  COMMAND "${Python3_EXECUTABLE}" -I "${CMAKE_SOURCE_DIR}/tools/stage_share.py"
          --source "${CMAKE_SOURCE_DIR}" --share "${BELLJAR_SHARE_DIR}"
          --site-packages "${BELLJAR_SITE_PACKAGES}" --stamp "${share_stamp}"
  DEPENDS ${share_sources} "${CMAKE_SOURCE_DIR}/tools/stage_share.py"
  COMMENT "Laying out share/belljar"
  VERBATIM)
add_custom_target(belljar_share ALL DEPENDS "${share_stamp}")

install(DIRECTORY "${BELLJAR_SHARE_DIR}/" DESTINATION "${CMAKE_INSTALL_DATADIR}/belljar"
        PATTERN site-packages EXCLUDE)
# The link becomes a copy: an installation does not depend on the build tree.
install(DIRECTORY "${BELLJAR_SITE_PACKAGES}/"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/belljar/site-packages")
