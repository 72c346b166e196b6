#include "server/events/libssl.h"

#include "server/core/shared_library.h"

namespace belljar::server::events {
namespace {

core::Result<const LibSsl*> LoadLibSsl() {
  static LibSsl functions;
  const core::Result<SharedLibrary> library = SharedLibrary::Open(
      "libssl.so.3",
      "https:// needs OpenSSL 3, Debian's package libssl3; without it, write the http:// address "
      "of a proxy on this machine that adds TLS");
  if (!library) return library.error();
#define BELLJAR_LOAD(name) \
  if (!library->Find(#name, functions.name)) return library->Lacks(#name);
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
