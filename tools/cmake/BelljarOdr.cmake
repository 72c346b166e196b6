# The target belljar_odr: all of the code in one link whose linker compares the types of every file. A
# relocatable link (-r) stops after that and generates no code. Its options: BelljarCompiler.cmake.
#
# Left out are the main functions of the two smaller programs, which are of one file each, and
# belljar-record-hot-blocks, one file that takes the place of __libc_start_main as belljar-preload does.

function(belljar_targets_below directory out)
  get_property(found DIRECTORY "${directory}" PROPERTY BUILDSYSTEM_TARGETS)
  get_property(below DIRECTORY "${directory}" PROPERTY SUBDIRECTORIES)
  foreach(each IN LISTS below)
    belljar_targets_below("${each}" more)
    list(APPEND found ${more})
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

belljar_targets_below("${CMAKE_SOURCE_DIR}" targets)
set(odr_objects "")
foreach(target IN LISTS targets)
  get_target_property(kind ${target} TYPE)
  if(target STREQUAL "belljar-record-hot-blocks")
    continue()
  endif()
  if(kind MATCHES "^(STATIC_LIBRARY|OBJECT_LIBRARY|MODULE_LIBRARY)$" OR target STREQUAL "belljar")
    list(APPEND odr_objects $<TARGET_OBJECTS:${target}>)
  endif()
endforeach()

set(odr_result "${CMAKE_BINARY_DIR}/odr.o")
add_custom_command(OUTPUT "${odr_result}"
  COMMAND "${CMAKE_CXX_COMPILER}" ${belljar_odr_link_options} -r -flinker-output=rel
          -o "${odr_result}" "$<JOIN:${odr_objects},;>"
  DEPENDS ${odr_objects}
  COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(belljar_odr DEPENDS "${odr_result}")
