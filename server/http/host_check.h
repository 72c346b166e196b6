// Checks Host and Origin headers. A web page can make its own name resolve to 127.0.0.1 (DNS
// rebinding) and so reach a server on loopback, but it cannot send a Host or Origin other than its
// own. Pure functions, any thread.
#ifndef BELLJAR_SERVER_HTTP_HOST_CHECK_H_
#define BELLJAR_SERVER_HTTP_HOST_CHECK_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace belljar::server::http {

// A Host header, or the part of an Origin after "://", without the port: "example.com",
// "127.0.0.1", "[::1]". nullopt: invalid.
std::optional<std::string_view> HostWithoutPort(std::string_view host);

// "localhost", an address in 127.0.0.0/8, "[::1]".
bool IsLoopbackHost(std::string_view host_without_port);

class HostRules {
 public:
  // `address`: the listening address, without brackets. An entry of `hosts` with a port
  // ("example.com:8443") matches only that port; "*" in either list matches any.
  HostRules(std::string_view address, std::vector<std::string> hosts,
            std::vector<std::string> origins);

  bool AllowsHost(std::string_view host) const;

  enum class Origin {
    kRefused,
    kAllowed,  // a page from this machine: answered, but without CORS headers
    kNamed,    // allowed by the operator: its pages may read the answers
  };
  Origin CheckOrigin(std::string_view origin) const;

 private:
  std::string address_;
  std::vector<std::string> hosts_;
  std::vector<std::string> origins_;
};

}  // namespace belljar::server::http

#endif  // BELLJAR_SERVER_HTTP_HOST_CHECK_H_
