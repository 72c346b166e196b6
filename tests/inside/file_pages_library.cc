// A library with one of everything: code, constants, what the dynamic linker relocates, data, and a
// .bss of more than a page. For file_pages_test.
#include "tests/inside/file_pages_library.h"

namespace {

const char kConstant[5000] = "constant";
char data[5000] = "data";
char bss[belljar::tests::kLibraryBss];
const char* const kRelocated[600] = {kConstant, data, bss};

}  // namespace

extern "C" belljar::tests::LibraryParts file_pages_parts() {
  return {kConstant, const_cast<const char**>(kRelocated), data, bss};
}
