#include "server/events/libcurl.h"

#include "server/core/shared_library.h"

namespace belljar::server::events {
namespace {

constexpr char kNeededFor[] =
    "webhooks and traces need libcurl: Debian's and Ubuntu's package libcurl4, RHEL's libcurl";
constexpr unsigned kMinVersion = 0x073d00;  // 7.61.0

core::Result<const LibCurl*> LoadLibCurl() {
  static LibCurl functions;
  // The second is Debian's build of the same version with GnuTLS, which git depends on.
  const core::Result<SharedLibrary> library =
      SharedLibrary::Open({"libcurl.so.4", "libcurl-gnutls.so.4"}, kNeededFor);
  if (!library) return library.error();
#define BELLJAR_LOAD(name) \
  if (!library->Find(#name, functions.name)) return library->Lacks(#name);
  BELLJAR_LIBCURL_FUNCTIONS(BELLJAR_LOAD)
#undef BELLJAR_LOAD
  if (functions.curl_global_init(CURL_GLOBAL_ALL) != CURLE_OK) {
    return core::MakeError("prepare libcurl", "it cannot be used");
  }
  const curl_version_info_data* const version = functions.curl_version_info(CURLVERSION_NOW);
  if (version->version_num < kMinVersion) {
    return core::MakeError("prepare libcurl",
                           std::string("it is ") + version->version + ": 7.61 or later is needed");
  }
  if ((version->features & CURL_VERSION_SSL) == 0) return library->Lacks("TLS");
  return &functions;
}

}  // namespace

core::Result<const LibCurl*> OpenLibCurl() {
  static const core::Result<const LibCurl*> loaded = LoadLibCurl();
  return loaded;
}

}  // namespace belljar::server::events
