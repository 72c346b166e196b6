// Where the parts of file_pages_library.cc are.
#ifndef BELLJAR_TESTS_INSIDE_FILE_PAGES_LIBRARY_H_
#define BELLJAR_TESTS_INSIDE_FILE_PAGES_LIBRARY_H_

#include <cstddef>

namespace belljar::tests {

// Larger than the gaps that a process has between its libraries, so that the test chooses what
// follows.
inline constexpr size_t kLibraryBss = 3'000'000;

struct LibraryParts {
  const char* constant;
  const char** relocated;
  char* data;
  char* bss;
};

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_INSIDE_FILE_PAGES_LIBRARY_H_
