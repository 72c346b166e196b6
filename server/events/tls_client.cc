#include "server/events/tls_client.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string>
#include <utility>

namespace belljar::server::events {
namespace {

using Session = std::unique_ptr<SSL, decltype(&::SSL_free)>;

// What OpenSSL has noted last about a failure, in this thread.
std::string LastReason(const LibSsl& library) {
  const char* reason = nullptr;
  while (const unsigned long code = library.ERR_get_error()) {
    if (const char* each = library.ERR_reason_error_string(code)) reason = each;
  }
  return reason != nullptr ? reason : "the connection was closed";
}

class TlsConnection : public Connection {
 public:
  TlsConnection(const LibSsl& library, core::UniqueFd socket, Session session)
      : library_(library), socket_(std::move(socket)), session_(std::move(session)) {}

  core::Result<void> Handshake(const egress::HostName& host, const Wait& wait) {
    const std::string operation = "connect to " + host.text + " with TLS";
    const core::Result<int> done =
        Try(operation, wait, [&] { return library_.SSL_connect(session_.get()); });
    if (!done && done.error().error_number != 0) return done.error();
    // SSL_connect has failed if it is not X509_V_OK; checked again, whatever the verify mode.
    const long verified = library_.SSL_get_verify_result(session_.get());
    if (verified != X509_V_OK) {
      return core::MakeError(operation,
                             std::string("its certificate was rejected: ") +
                                 library_.X509_verify_cert_error_string(verified) +
                                 " (the root certificates are those of Debian's package "
                                 "ca-certificates, or of the file that SSL_CERT_FILE names)");
    }
    if (!done) return done.error();
    if (*done != 1) return core::SystemErrorOf(ECONNRESET, operation);
    return {};
  }

  core::Result<void> Send(std::string_view bytes, const Wait& wait) override {
    while (!bytes.empty()) {
      const core::Result<int> sent = Try("send to the endpoint", wait, [&] {
        return library_.SSL_write(session_.get(), bytes.data(), ClampToInt(bytes.size()));
      });
      if (!sent) return sent.error();
      if (*sent == 0) return core::SystemErrorOf(ECONNRESET, "send to the endpoint");
      bytes.remove_prefix(static_cast<size_t>(*sent));
    }
    return {};
  }

  core::Result<size_t> Receive(std::span<char> buffer, const Wait& wait) override {
    const core::Result<int> size = Try("read the response", wait, [&] {
      return library_.SSL_read(session_.get(), buffer.data(), ClampToInt(buffer.size()));
    });
    if (!size) return size.error();
    return static_cast<size_t>(*size);
  }

 private:
  static int ClampToInt(size_t size) {
    return static_cast<int>(std::min<size_t>(size, std::numeric_limits<int>::max()));
  }

  // Calls `step` until it succeeds, as SSL_get_error(3) says. 0: the peer has closed. An error
  // without a number is one of TLS.
  template <typename Step>
  core::Result<int> Try(const std::string& operation, const Wait& wait, Step step) {
    for (;;) {
      library_.ERR_clear_error();
      errno = 0;
      const int result = step();
      if (result > 0) return result;
      const int system_error = errno;
      short events = 0;
      switch (library_.SSL_get_error(session_.get(), result)) {
        case SSL_ERROR_WANT_READ: events = POLLIN; break;
        case SSL_ERROR_WANT_WRITE: events = POLLOUT; break;
        case SSL_ERROR_ZERO_RETURN: return 0;
        case SSL_ERROR_SYSCALL:
          if (system_error == EINTR) continue;
          if (system_error != 0) return core::SystemErrorOf(system_error, operation);
          [[fallthrough]];
        default: return core::MakeError(operation, LastReason(library_));
      }
      if (core::Result<void> ready = wait.UntilReady(socket_.get(), events); !ready) {
        return core::SystemErrorOf(ready.error().error_number, operation);
      }
    }
  }

  const LibSsl& library_;
  core::UniqueFd socket_;
  Session session_;  // before the socket is closed
};

// The name that is sent (SNI, RFC 6066), and that the certificate must be for.
bool SetExpectedHost(const LibSsl& library, SSL* session, const egress::HostName& host) {
  if (host.address) {
    return library.X509_VERIFY_PARAM_set1_ip_asc(library.SSL_get0_param(session),
                                                 host.text.c_str()) == 1;
  }
  library.SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return library.SSL_set1_host(session, host.text.c_str()) == 1 &&
         library.SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                          const_cast<char*>(host.text.c_str())) == 1;
}

}  // namespace

TlsClient::TlsClient(const LibSsl& library, Context context)
    : library_(&library), context_(std::move(context)) {}

core::Result<TlsClient> TlsClient::Create() {
  const core::Result<const LibSsl*> opened = OpenLibSsl();
  if (!opened) return opened.error();
  const LibSsl& library = **opened;
  Context context(library.SSL_CTX_new(library.TLS_client_method()), library.SSL_CTX_free);
  if (!context ||
      library.SSL_CTX_ctrl(context.get(), SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION,
                           nullptr) != 1 ||
      library.SSL_CTX_set_default_verify_paths(context.get()) != 1) {
    return core::MakeError("prepare TLS", LastReason(library));
  }
  library.SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  return TlsClient(library, std::move(context));
}

core::Result<std::unique_ptr<Connection>> TlsClient::Connect(core::UniqueFd socket,
                                                             const egress::HostName& host,
                                                             const Wait& wait) const {
  Session session(library_->SSL_new(context_.get()), library_->SSL_free);
  if (!session || !SetExpectedHost(*library_, session.get(), host) ||
      library_->SSL_set_fd(session.get(), socket.get()) != 1) {
    return core::MakeError("prepare TLS", LastReason(*library_));
  }
  auto connection =
      std::make_unique<TlsConnection>(*library_, std::move(socket), std::move(session));
  if (core::Result<void> done = connection->Handshake(host, wait); !done) return done.error();
  return std::unique_ptr<Connection>(std::move(connection));
}

}  // namespace belljar::server::events
