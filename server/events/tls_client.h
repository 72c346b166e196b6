// TlsClient: connections with TLS 1.2 or 1.3 to endpoints whose certificate chains to one of the
// machine's root certificates (OpenSSL's default; SSL_CERT_FILE and SSL_CERT_DIR name others).
#ifndef BELLJAR_SERVER_EVENTS_TLS_CLIENT_H_
#define BELLJAR_SERVER_EVENTS_TLS_CLIENT_H_

#include <memory>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/egress/host_name.h"
#include "server/events/connection.h"
#include "server/events/libssl.h"

namespace belljar::server::events {

// One thread at a time.
class TlsClient {
 public:
  static core::Result<TlsClient> Create();

  // Over a connected socket that does not block; the certificate must be valid for `host`. Whoever
  // sends must ignore or block SIGPIPE: OpenSSL writes to the socket with write(2).
  core::Result<std::unique_ptr<Connection>> Connect(core::UniqueFd socket,
                                                    const egress::HostName& host,
                                                    const Wait& wait) const;

 private:
  using Context = std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)>;
  TlsClient(const LibSsl& library, Context context);

  const LibSsl* library_;
  Context context_;
};

}  // namespace belljar::server::events

#endif  // BELLJAR_SERVER_EVENTS_TLS_CLIENT_H_
