// What a program or shared library requires of the dynamic linker, read as the linker does: from
// program headers, which a stripped file has too.
#ifndef BELLJAR_CONTAINER_IMAGE_ELF_FILE_H_
#define BELLJAR_CONTAINER_IMAGE_ELF_FILE_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/core/result.h"

namespace belljar::container::image {

// Only files of the same kind can be loaded together.
struct ElfKind {
  int elf_class = 0;  // ELFCLASS64
  int machine = 0;    // EM_X86_64

  bool operator==(const ElfKind&) const = default;
};

struct ElfFile {
  ElfKind kind;
  std::string interpreter;          // PT_INTERP; empty: a library
  std::vector<std::string> needed;  // DT_NEEDED, in order
  // Folders as written, including "$ORIGIN". DT_RPATH only applies without DT_RUNPATH.
  std::vector<std::string> rpath;
  std::vector<std::string> runpath;
};

// nullopt: not an ELF file. An error: it cannot be read, or is a damaged ELF file.
core::Result<std::optional<ElfFile>> ReadElfFile(const std::string& path);

// A program without what is never loaded: debug sections, the section table. It behaves the same.
// Anything but a 64-bit ELF file of this machine's byte order is returned unchanged.
std::string WithoutDebugSections(std::string program);

// The name in OCI images: "amd64"; empty if there is none.
std::string ArchitectureName(const ElfKind& kind);

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_ELF_FILE_H_
