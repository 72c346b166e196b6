#include "server/jobs/libpq.h"

#include "server/core/shared_library.h"

namespace belljar::server::jobs {
namespace {

core::Result<const LibPq*> LoadLibPq() {
  static LibPq functions;
  const core::Result<SharedLibrary> library = SharedLibrary::Open(
      {"libpq.so.5"}, "jobs in PostgreSQL need its client library, Debian's package libpq5");
  if (!library) return library.error();
#define BELLJAR_LOAD(name)                                          \
  if (!library->Find(#name, functions.name)) {                      \
    return library->Lacks(#name ": version 14 or later is needed"); \
  }
  BELLJAR_LIBPQ_FUNCTIONS(BELLJAR_LOAD)
#undef BELLJAR_LOAD
  return &functions;
}

}  // namespace

core::Result<const LibPq*> OpenLibPq() {
  static const core::Result<const LibPq*> loaded = LoadLibPq();
  return loaded;
}

}  // namespace belljar::server::jobs
