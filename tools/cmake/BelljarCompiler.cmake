# Warnings, hardening, sanitizers, ccache: the same for every target.

add_compile_options(-Wall -Wextra -Wconversion)
# CPython's type objects have some fifty fields; a designated initialiser leaves most out on purpose.
add_compile_options(-Wno-missing-field-initializers)
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
  # With a sanitizer gcc takes libstdc++'s own <regex> for using what is not initialised (its manual
  # says of -Wmaybe-uninitialized that sanitizers make it err); the release preset still looks.
  add_compile_options("$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>")
else()
  # It needs an optimised build; some distributions' compilers predefine it at another level.
  add_compile_options("$<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  foreach(language IN ITEMS C CXX)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
    endif()
  endforeach()
endif()
