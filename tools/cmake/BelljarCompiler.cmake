# Warnings, hardening, sanitizers and ccache, for all targets.

add_compile_options(-Wall -Wextra -Wconversion)
# CPython's type objects have about fifty fields; designated initialisers omit most of them.
add_compile_options(-Wno-missing-field-initializers)
if(CMAKE_UNITY_BUILD)
  # Types of anonymous namespaces in what a .cc defines: gcc takes all of a unity source for headers.
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>")
endif()
if(BELLJAR_WERROR)
  add_compile_options(-Werror)
endif()

# gcc collects garbage whenever its heap has doubled, which takes an eighth of the compile time. Without
# that it needs up to 1.2 GB for a file instead of 0.9. Not for clang-tidy, to which an option that
# clang does not use is an error.
cmake_host_system_information(RESULT belljar_memory QUERY TOTAL_PHYSICAL_MEMORY)  # MiB
if(belljar_memory GREATER 8000 AND NOT CMAKE_CXX_CLANG_TIDY)
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1000000>")
endif()

add_compile_options(-fstack-protector-strong)
add_link_options(-Wl,-z,relro,-z,now)

if(BELLJAR_SANITIZE)
  # _FORTIFY_SOURCE replaces the very functions that the address sanitizer intercepts.
  add_compile_options(-fsanitize=${BELLJAR_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BELLJAR_SANITIZE})
  # These checks of every pointer take half of the compile time of sanitized code (gcc 12), or a
  # third (clang 16). Errors found by the first two also crash or are found by AddressSanitizer; this
  # code never casts to classes, and reads buffers with memcpy: the fuzz preset, with clang, checks
  # that.
  add_compile_options(-fno-sanitize=null,object-size,vptr
                      "$<$<CXX_COMPILER_ID:GNU>:-fno-sanitize=alignment>")
  # With sanitizers gcc reports false positives in libstdc++'s <regex> (its manual says so of
  # -Wmaybe-uninitialized); the release preset keeps the warning.
  add_compile_options("$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>")
  # ThreadSanitizer does not see fences, which asio has around each handler and no data depends on.
  if(BELLJAR_SANITIZE MATCHES "thread")
    add_compile_options("$<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>")
  endif()
  # gcc 12's ThreadSanitizer does not support the mapping randomisation of newer kernels.
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

# belljar_compile_for_size(TARGET): -Os for code that no run and no call waits for, such as the commands
# and the start of containers, or that mostly waits for the kernel, as sessions and workspaces do
# (docs/releasing.md, "Size"). In each optimised build, so that what is tested and measured is what a
# wheel has.
function(belljar_compile_for_size target)
  if(BELLJAR_SANITIZE)
    return()
  endif()
  target_compile_options(${target} PRIVATE "$<$<NOT:$<CONFIG:Debug>>:-Os>")
endfunction()

# belljar_link_first(PROGRAM LIBRARY...): of several copies of an inline function or template
# instantiation a linker keeps the first. So the libraries on the path of runs and calls are linked
# before what is compiled for size: reading and writing JSON is slower with -Os.
function(belljar_link_first program)
  if(BELLJAR_SANITIZE)
    return()
  endif()
  set(first -Wl,--whole-archive)
  foreach(library IN LISTS ARGN)
    list(APPEND first "$<TARGET_FILE:${library}>")  # each an option of its own: it may have spaces
  endforeach()
  list(APPEND first -Wl,--no-whole-archive)
  target_link_options(${program} PRIVATE "$<$<NOT:$<CONFIG:Debug>>:${first}>")
endfunction()

# Lets the linker see all types of all files and report names with two definitions. Compiled only
# for that (preset odr): the target belljar_odr.
if(BELLJAR_ODR_CHECK)
  set(belljar_odr_link_options
      -flto=auto -Wodr -Wlto-type-mismatch -Werror=odr -Werror=lto-type-mismatch)
  add_compile_options(-flto -fno-fat-lto-objects)
endif()

# Debug information does not contain the path of the build tree, so that two trees of a clone, such as
# that of a second Python, compile to the same bytes and share them through the compiler cache.
add_compile_options("-ffile-prefix-map=${CMAKE_BINARY_DIR}=.")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  foreach(language IN ITEMS C CXX)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      # The paths of generated sources, relative to the tree, are the same in each tree.
      set(CMAKE_${language}_COMPILER_LAUNCHER
          env "CCACHE_BASEDIR=${CMAKE_BINARY_DIR}" "${CCACHE_PROGRAM}")
    endif()
  endforeach()
endif()
