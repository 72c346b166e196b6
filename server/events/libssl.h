// OpenSSL's libssl, opened when it is first needed: linked into every wheel it would take 1.8 MB,
// compressed, and a machine that sends events over TLS gets its security fixes by its own updates.
#ifndef BELLJAR_SERVER_EVENTS_LIBSSL_H_
#define BELLJAR_SERVER_EVENTS_LIBSSL_H_

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "engine/core/result.h"

namespace belljar::server::events {

// Each function that is used, as declared in OpenSSL's headers; those of libcrypto are found as
// well. clang-format would move the lines at each run.
// clang-format off
#define BELLJAR_LIBSSL_FUNCTIONS(X) \
  X(TLS_client_method) X(SSL_CTX_new) X(SSL_CTX_free) X(SSL_CTX_ctrl) X(SSL_CTX_set_verify) \
  X(SSL_CTX_set_default_verify_paths) X(SSL_new) X(SSL_free) X(SSL_set_fd) X(SSL_ctrl) \
  X(SSL_set1_host) X(SSL_set_hostflags) X(SSL_get0_param) X(SSL_connect) X(SSL_read) X(SSL_write) \
  X(SSL_get_error) X(SSL_get_verify_result) X(X509_VERIFY_PARAM_set1_ip_asc) \
  X(X509_verify_cert_error_string) X(ERR_clear_error) X(ERR_get_error) X(ERR_reason_error_string)
// clang-format on

struct LibSsl {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define BELLJAR_DECLARE(name) decltype(&::name) name = nullptr;
  BELLJAR_LIBSSL_FUNCTIONS(BELLJAR_DECLARE)
#undef BELLJAR_DECLARE
};

// Stays open until the process ends. Any thread.
core::Result<const LibSsl*> OpenLibSsl();

}  // namespace belljar::server::events

#endif  // BELLJAR_SERVER_EVENTS_LIBSSL_H_
