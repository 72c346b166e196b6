# Warnings, hardening, sanitizers, ccache: the same for every target.

add_compile_options(-Wall -Wextra -Wconversion)
# CPython's type objects have some fifty fields; a designated initialiser leaves most out on purpose.
add_compile_options(-Wno-missing-field-initializers)
if(CMAKE_UNITY_BUILD)
  # Types of anonymous namespaces in what a .cc defines: gcc takes all of a unity source for headers.
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>")
endif()
if(BELLJAR_WERROR)
  add_compile_options(-Werror)
endif()

add_compile_options(-fstack-protector-strong)
add_link_options(-Wl,-z,relro,-z,now)

if(BELLJAR_SANITIZE)
  # _FORTIFY_SOURCE replaces the very functions that the address sanitizer intercepts.
  add_compile_options(-fsanitize=${BELLJAR_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BELLJAR_SANITIZE})
  # Half of the time that sanitized code takes to compile, with gcc 12, for checks of every pointer:
  # what the first two find is a crash or the address sanitizer's find as well, this code casts to
  # classes nowhere, and reads what is in buffers by memcpy. The fuzz preset, by clang, has them all.
  add_compile_options(
    "$<$<CXX_COMPILER_ID:GNU>:-fno-sanitize=null,object-size,vptr,alignment>")
  # With a sanitizer gcc takes libstdc++'s own <regex> for using what is not initialised (its manual
  # says of -Wmaybe-uninitialized that sanitizers make it err); the release preset still looks.
  add_compile_options("$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>")
  # gcc 12's ThreadSanitizer has no room for mappings as random as newer kernels make them.
  if(BELLJAR_SANITIZE MATCHES "thread" AND EXISTS /proc/sys/vm/mmap_rnd_bits)
    file(STRINGS /proc/sys/vm/mmap_rnd_bits random_bits)
    if(random_bits GREATER 28)
      set(CMAKE_CROSSCOMPILING_EMULATOR setarch -R)
    endif()
  endif()
else()
  # It needs an optimised build; some distributions' compilers predefine it at another level.
  add_compile_options("$<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
endif()

# The linker sees every type of every file then, and says where one name is two of them. Compiled for
# that alone (preset odr): the target belljar_odr.
if(BELLJAR_ODR_CHECK)
  add_compile_options(-flto -fno-fat-lto-objects)
  add_link_options(-flto=auto -Wodr -Wlto-type-mismatch -Werror=odr -Werror=lto-type-mismatch)
  set(CMAKE_AR "${CMAKE_CXX_COMPILER_AR}")
  set(CMAKE_RANLIB "${CMAKE_CXX_COMPILER_RANLIB}")
endif()

# Debug information says that it was made here and not in which clone: two of them compile to the same
# bytes, and a compiler cache gives one what the other has made (CCACHE_BASEDIR).
add_compile_options("-ffile-prefix-map=${CMAKE_BINARY_DIR}=.")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  foreach(language IN ITEMS C CXX)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
    endif()
  endforeach()
endif()
