// Which Host and Origin headers a server answers to. A page in a browser can make its own name
// resolve to 127.0.0.1 (DNS rebinding) and so reach a server on loopback; what it cannot do is send
// another Host and Origin than its own. Pure functions, any thread.
#ifndef BELLJAR_SERVER_HTTP_HOST_CHECK_H_
#define BELLJAR_SERVER_HTTP_HOST_CHECK_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace belljar::server::http {

// A Host header, or what follows "://" in an Origin, without its port, as it is written:
// "example.com", "127.0.0.1", "[::1]". nullopt: it is none.
std::optional<std::string_view> HostWithoutPort(std::string_view host);

// "localhost", an address in 127.0.0.0/8, "[::1]".
bool IsLoopbackHost(std::string_view host_without_port);

class HostRules {
 public:
  // `address`: where the server listens, as text without brackets. `hosts` may name a port
  // ("example.com:8443"), and then mean that one only; "*" in either list means any.
  HostRules(std::string_view address, std::vector<std::string> hosts,
            std::vector<std::string> origins);

  bool AllowsHost(std::string_view host) const;

  enum class Origin {
    kRefused,
    kAllowed,  // a page of this machine: answered, but given no CORS headers
    kNamed,    // the operator allows it, so its page may read the answers
  };
  Origin CheckOrigin(std::string_view origin) const;

 private:
  std::string address_;
  std::vector<std::string> hosts_;
  std::vector<std::string> origins_;
};

}  // namespace belljar::server::http

#endif  // BELLJAR_SERVER_HTTP_HOST_CHECK_H_
