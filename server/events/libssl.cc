#include "server/events/libssl.h"

#include <dlfcn.h>

#include <string>

namespace belljar::server::events {
namespace {

core::Result<const LibSsl*> LoadLibSsl() {
  constexpr char kLibrary[] = "libssl.so.3";
  const std::string operation = std::string("open ") + kLibrary;
  static LibSsl functions;
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();  // NOLINT(concurrency-mt-unsafe): once, at the start
    return core::MakeError(operation,
                           "https:// needs OpenSSL 3, Debian's package libssl3; without it, write "
                           "the http:// address of a proxy on this machine that adds TLS: " +
                               std::string(why != nullptr ? why : "unknown error"));
  }
#define BELLJAR_LOAD(name)                                                            \
  functions.name = reinterpret_cast<decltype(functions.name)>(dlsym(library, #name)); \
  if (functions.name == nullptr) return core::MakeError(operation, "it has no " #name);
  BELLJAR_LIBSSL_FUNCTIONS(BELLJAR_LOAD)
#undef BELLJAR_LOAD
  return &functions;
}

}  // namespace

core::Result<const LibSsl*> OpenLibSsl() {
  static const core::Result<const LibSsl*> loaded = LoadLibSsl();
  return loaded;
}

}  // namespace belljar::server::events
