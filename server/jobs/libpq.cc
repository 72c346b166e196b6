#include "server/jobs/libpq.h"

#include <dlfcn.h>

#include <string>

namespace belljar::server::jobs {
namespace {

core::Result<const LibPq*> LoadLibPq() {
  static LibPq functions;
  void* const library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();  // NOLINT(concurrency-mt-unsafe): once, at the start
    return core::MakeError("open libpq.so.5",
                           "jobs in PostgreSQL need its client library, Debian's package libpq5: " +
                               std::string(why != nullptr ? why : "unknown error"));
  }
#define BELLJAR_LOAD(name)                                                            \
  functions.name = reinterpret_cast<decltype(functions.name)>(dlsym(library, #name)); \
  if (functions.name == nullptr) {                                                    \
    return core::MakeError("open libpq.so.5",                                         \
                           "it has no " #name ": version 14 or later is needed");     \
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
