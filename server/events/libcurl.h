// libcurl, loaded when first needed: a server without webhooks and traces does not need it, and
// wheels do not contain it. A machine that has it gets its security fixes through its own updates.
#ifndef BELLJAR_SERVER_EVENTS_LIBCURL_H_
#define BELLJAR_SERVER_EVENTS_LIBCURL_H_

// Typed handles, no macros in place of functions, and no deprecation warnings for what the oldest
// version needs.
#define CURL_STRICTER
#define CURL_DISABLE_TYPECHECK
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>

#include "engine/core/result.h"

namespace belljar::server::events {

// Each function that is used, as declared in curl/curl.h. These, and the options in http_post.cc,
// all exist in 7.61, the version of RHEL 8, the oldest that a wheel may find. clang-format would
// move the lines at each run.
// clang-format off
#define BELLJAR_LIBCURL_FUNCTIONS(X) \
  X(curl_global_init) X(curl_version_info) X(curl_slist_append) X(curl_slist_free_all) \
  X(curl_easy_init) X(curl_easy_setopt) X(curl_easy_getinfo) X(curl_easy_strerror) \
  X(curl_easy_cleanup) X(curl_multi_init) X(curl_multi_add_handle) X(curl_multi_remove_handle) \
  X(curl_multi_perform) X(curl_multi_wait) X(curl_multi_info_read) X(curl_multi_strerror) \
  X(curl_multi_cleanup)
// clang-format on

struct LibCurl {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define BELLJAR_DECLARE(name) decltype(&::name) name = nullptr;
  BELLJAR_LIBCURL_FUNCTIONS(BELLJAR_DECLARE)
#undef BELLJAR_DECLARE
};

// Stays loaded until the process ends. Any thread.
core::Result<const LibCurl*> OpenLibCurl();

}  // namespace belljar::server::events

#endif  // BELLJAR_SERVER_EVENTS_LIBCURL_H_
