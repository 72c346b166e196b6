// What a program or shared library asks of the dynamic linker, as the linker reads it: by program
// headers, which a stripped file has too.
#ifndef BELLJAR_CONTAINER_IMAGE_ELF_FILE_H_
#define BELLJAR_CONTAINER_IMAGE_ELF_FILE_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/core/result.h"

namespace belljar::container::image {

// Only files of one kind are loaded together.
struct ElfKind {
  int elf_class = 0;  // ELFCLASS64
  int machine = 0;    // EM_X86_64

  bool operator==(const ElfKind&) const = default;
};

struct ElfFile {
  ElfKind kind;
  std::string interpreter;          // PT_INTERP; empty: a library
  std::vector<std::string> needed;  // DT_NEEDED, in order
  // Folders as they are written, "$ORIGIN" and all. DT_RPATH counts where there is no DT_RUNPATH.
  std::vector<std::string> rpath;
  std::vector<std::string> runpath;
};

// Nothing: it is no ELF file. An error: it cannot be read, or is one and damaged.
core::Result<std::optional<ElfFile>> ReadElfFile(const std::string& path);

// A program's bytes without what is never loaded: sections for debuggers, the table of sections. It
// runs as before. Whatever is no 64-bit ELF file of this machine's byte order comes back as it is.
std::string WithoutDebugSections(std::string program);

// As OCI images name it: "amd64"; empty for one that they have no name for.
std::string ArchitectureName(const ElfKind& kind);

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_ELF_FILE_H_
