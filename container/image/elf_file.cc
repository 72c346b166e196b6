#include "container/image/elf_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <string_view>

#include "engine/core/fd.h"

namespace belljar::container::image {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, EndElf>;

core::Error Damaged(const std::string& path, const std::string& what) {
  return core::MakeError("read the shared libraries that " + path + " needs", what);
}

// Splits "a:b"; an empty part means the current folder to the linker, and is ignored here.
std::vector<std::string> SplitFolders(std::string_view text) {
  std::vector<std::string> folders;
  for (size_t from = 0; from <= text.size();) {
    const size_t colon = std::min(text.find(':', from), text.size());
    if (colon > from) folders.emplace_back(text.substr(from, colon - from));
    from = colon + 1;
  }
  return folders;
}

// A file's segments, and the dynamic section that they refer to.
class ElfReader {
 public:
  ElfReader(Elf* elf, const std::string& path) : elf_(elf), path_(path) {}

  core::Result<ElfFile> Read() {
    GElf_Ehdr header;
    if (!gelf_getehdr(elf_, &header)) return Damaged(path_, elf_errmsg(-1));
    file_.kind = {header.e_ident[EI_CLASS], header.e_machine};
    size_t count = 0;
    if (elf_getphdrnum(elf_, &count) != 0) return Damaged(path_, elf_errmsg(-1));
    for (size_t i = 0; i < count; ++i) {
      GElf_Phdr segment;
      if (!gelf_getphdr(elf_, static_cast<int>(i), &segment)) {
        return Damaged(path_, elf_errmsg(-1));
      }
      segments_.push_back(segment);
    }
    for (const GElf_Phdr& segment : segments_) {
      if (segment.p_type == PT_INTERP) {
        file_.interpreter = Chunk(segment.p_offset, segment.p_filesz).c_str();  // up to its NUL
      }
      if (segment.p_type == PT_DYNAMIC) {
        if (core::Result<void> done = ReadDynamic(segment); !done) return done.error();
      }
    }
    return std::move(file_);
  }

 private:
  // Empty if the file has no such bytes.
  std::string Chunk(uint64_t offset, uint64_t size) {
    const Elf_Data* data =
        elf_getdata_rawchunk(elf_, static_cast<int64_t>(offset), size, ELF_T_BYTE);
    if (!data || !data->d_buf) return "";
    return {static_cast<const char*>(data->d_buf), data->d_size};
  }

  core::Result<void> ReadDynamic(const GElf_Phdr& segment) {
    Elf_Data* data = elf_getdata_rawchunk(elf_, static_cast<int64_t>(segment.p_offset),
                                          segment.p_filesz, ELF_T_DYN);
    if (!data) return Damaged(path_, elf_errmsg(-1));
    std::vector<GElf_Dyn> entries;
    for (int i = 0;; ++i) {
      GElf_Dyn entry;
      if (!gelf_getdyn(data, i, &entry) || entry.d_tag == DT_NULL) break;
      entries.push_back(entry);
    }
    if (core::Result<void> done = ReadStrings(entries); !done) return done;
    for (const GElf_Dyn& entry : entries) {
      const bool is_text =
          entry.d_tag == DT_NEEDED || entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
      if (!is_text) continue;
      if (entry.d_un.d_val >= strings_.size()) return Damaged(path_, "a name is not in the file");
      const std::string text = strings_.c_str() + entry.d_un.d_val;
      if (entry.d_tag == DT_NEEDED) file_.needed.push_back(text);
      if (entry.d_tag == DT_RPATH) file_.rpath = SplitFolders(text);
      if (entry.d_tag == DT_RUNPATH) file_.runpath = SplitFolders(text);
    }
    return {};
  }

  // The string table is given by its memory address; it is in the segment loaded there.
  core::Result<void> ReadStrings(const std::vector<GElf_Dyn>& entries) {
    uint64_t address = 0;
    uint64_t size = 0;
    for (const GElf_Dyn& entry : entries) {
      if (entry.d_tag == DT_STRTAB) address = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRSZ) size = entry.d_un.d_val;
    }
    for (const GElf_Phdr& segment : segments_) {
      const bool is_here = segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
                           address - segment.p_vaddr < segment.p_filesz;
      if (is_here) strings_ = Chunk(segment.p_offset + (address - segment.p_vaddr), size);
    }
    if (size != 0 && strings_.empty()) return Damaged(path_, "its string table is not in the file");
    return {};
  }

  Elf* elf_;
  const std::string& path_;
  std::vector<GElf_Phdr> segments_;
  std::string strings_;
  ElfFile file_;
};

}  // namespace

core::Result<std::optional<ElfFile>> ReadElfFile(const std::string& path) {
  core::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return core::SystemError("open " + path);
  // libelf also accepts archives of objects, and reads much of a file to determine its type.
  char magic[SELFMAG] = {};
  if (pread(fd.get(), magic, sizeof magic, 0) != sizeof magic ||
      memcmp(magic, ELFMAG, SELFMAG) != 0) {
    return std::optional<ElfFile>();
  }
  if (elf_version(EV_CURRENT) == EV_NONE) return Damaged(path, elf_errmsg(-1));
  const ElfHandle elf(elf_begin(fd.get(), ELF_C_READ, nullptr));
  if (!elf) return Damaged(path, elf_errmsg(-1));
  core::Result<ElfFile> file = ElfReader(elf.get(), path).Read();
  if (!file) return file.error();
  return std::optional<ElfFile>(std::move(*file));
}

std::string WithoutDebugSections(std::string program) {
  Elf64_Ehdr header;
  if (program.size() < sizeof header) return program;
  memcpy(&header, program.data(), sizeof header);
  constexpr int kOurOrder = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  const bool is_ours =
      memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
      header.e_ident[EI_DATA] == kOurOrder && header.e_phentsize == sizeof(Elf64_Phdr);
  if (!is_ours || header.e_phoff > program.size()) return program;
  const uint64_t segments = header.e_phnum * sizeof(Elf64_Phdr);
  if (segments > program.size() - header.e_phoff) return program;
  uint64_t end = header.e_phoff + segments;
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    memcpy(&segment, program.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_offset > program.size() || segment.p_filesz > program.size() - segment.p_offset) {
      return program;
    }
    end = std::max(end, segment.p_offset + segment.p_filesz);
  }
  header.e_shoff = 0;
  header.e_shnum = 0;
  header.e_shentsize = 0;
  header.e_shstrndx = SHN_UNDEF;
  memcpy(program.data(), &header, sizeof header);
  program.resize(end);
  return program;
}

std::string ArchitectureName(const ElfKind& kind) {
  if (kind.elf_class != ELFCLASS64) return "";
  switch (kind.machine) {
    case EM_X86_64: return "amd64";
    case EM_AARCH64: return "arm64";
    case EM_PPC64: return "ppc64le";
    case EM_RISCV: return "riscv64";
    case EM_S390: return "s390x";
  }
  return "";
}

}  // namespace belljar::container::image
