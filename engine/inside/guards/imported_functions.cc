#include "engine/inside/guards/imported_functions.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace belljar::inside::guards {
namespace {

// What the dynamic linker left in memory about one library.
struct Library {
  uintptr_t base = 0;
  uintptr_t closed_begin = 0;  // PT_GNU_RELRO: read-only after linking
  uintptr_t closed_end = 0;
  const ElfW(Dyn) * dynamic = nullptr;
};

struct Relocations {
  const ElfW(Rela) * table = nullptr;
  size_t size = 0;  // bytes
};

struct Tables {
  Relocations calls;
  Relocations others;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
};

struct Search {
  uintptr_t inside;
  Library found;
};

// For dl_iterate_phdr: 1 stops the iteration.
int Look(dl_phdr_info* info, size_t /*size*/, void* argument) {
  auto* search = static_cast<Search*>(argument);
  bool contains = false;
  Library library{.base = info->dlpi_addr};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    const uintptr_t end = begin + header.p_memsz;
    if (header.p_type == PT_LOAD) contains |= search->inside >= begin && search->inside < end;
    if (header.p_type == PT_DYNAMIC) library.dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
    if (header.p_type == PT_GNU_RELRO) library.closed_begin = begin, library.closed_end = end;
  }
  if (!contains) return 0;
  search->found = library;
  return 1;
}

Tables TablesOf(const Library& library) {
  Tables tables;
  const ElfW(Dyn)* entry = library.dynamic;
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    const uintptr_t at = entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_JMPREL: tables.calls.table = reinterpret_cast<const ElfW(Rela)*>(at); break;
      case DT_PLTRELSZ: tables.calls.size = entry->d_un.d_val; break;
      case DT_RELA: tables.others.table = reinterpret_cast<const ElfW(Rela)*>(at); break;
      case DT_RELASZ: tables.others.size = entry->d_un.d_val; break;
      case DT_SYMTAB: tables.symbols = reinterpret_cast<const ElfW(Sym)*>(at); break;
      case DT_STRTAB: tables.names = reinterpret_cast<const char*>(at); break;
      default: break;
    }
  }
  return tables;
}

// Afterwards the page has its original protection again.
bool Write(const Library& library, uintptr_t slot, void* value) {
  const auto size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = slot & ~(size - 1);
  auto* page = reinterpret_cast<void*>(begin);  // NOLINT(performance-no-int-to-ptr)
  if (mprotect(page, size, PROT_READ | PROT_WRITE) != 0) return false;
  *reinterpret_cast<void**>(slot) = value;
  // Like the dynamic linker, which closes whole pages: a region may end within one if pages are
  // larger than the link editor expected (64 KiB on some aarch64 kernels).
  const bool closed =
      begin >= (library.closed_begin & ~(size - 1)) && begin < (library.closed_end & ~(size - 1));
  return !closed || mprotect(page, size, PROT_READ) == 0;
}

bool IsSlotOfFunction(const ElfW(Rela) & relocation) {
  const auto kind = ELF64_R_TYPE(relocation.r_info);
#if defined(__x86_64__)
  return kind == R_X86_64_JUMP_SLOT || kind == R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
  return kind == R_AARCH64_JUMP_SLOT || kind == R_AARCH64_GLOB_DAT;
#else
  (void)kind;
  return false;
#endif
}

bool Replace(const Library& library, const Tables& tables, const Relocations& relocations,
             const char* symbol, void* replacement) {
  bool done = false;
  for (size_t i = 0; relocations.table && i < relocations.size / sizeof(ElfW(Rela)); ++i) {
    const ElfW(Rela)& relocation = relocations.table[i];
    if (!IsSlotOfFunction(relocation)) continue;
    const char* name = tables.names + tables.symbols[ELF64_R_SYM(relocation.r_info)].st_name;
    if (strcmp(name, symbol) != 0) continue;
    if (!Write(library, library.base + relocation.r_offset, replacement)) return false;
    done = true;
  }
  return done;
}

}  // namespace

bool ReplaceImportedFunction(const void* inside, const char* symbol, void* replacement) {
  Search search{.inside = reinterpret_cast<uintptr_t>(inside), .found = {}};
  if (dl_iterate_phdr(Look, &search) == 0) return false;
  const Tables tables = TablesOf(search.found);
  if (tables.symbols == nullptr || tables.names == nullptr) return false;
  const bool called = Replace(search.found, tables, tables.calls, symbol, replacement);
  const bool named = Replace(search.found, tables, tables.others, symbol, replacement);
  return called || named;
}

}  // namespace belljar::inside::guards
