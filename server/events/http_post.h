// HttpPost: sends a body to an HTTP endpoint configured by the operator, using libcurl: one
// connection per request, one deadline for all of it, no redirects, no proxy, and TLS 1.2 or later
// with a verified certificate.
//
//   Result<HttpTarget> target = HttpTarget::Parse("https://hooks.example.com/belljar", {});
//   HttpPost post(*target);
//   Result<unsigned> status = post.Send({{"Content-Type", "application/json"}}, body, deadline,
//   stop);
//
// Without TLS, it only connects to loopback addresses and to private networks named by the
// operator. The check applies to the resolved address of each connection.
#ifndef BELLJAR_SERVER_EVENTS_HTTP_POST_H_
#define BELLJAR_SERVER_EVENTS_HTTP_POST_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/result.h"
#include "engine/egress/address_policy.h"
#include "engine/egress/host_name.h"
#include "engine/egress/resolver.h"
#include "server/core/cancellation.h"

namespace belljar::server::events {

struct HttpTarget {
  bool is_tls = false;
  egress::HostName host;
  uint16_t port = 80;
  std::string path = "/";                     // including the query
  std::string authority;                      // for the Host header
  std::vector<egress::AddressBlock> allowed;  // without TLS, besides loopback

  // "https://host[:port][/path]" or "http://…". An error has no operation; its detail says what to
  // write.
  static core::Result<HttpTarget> Parse(std::string_view url,
                                        const std::vector<std::string>& allow_private);
  bool Permits(const boost::asio::ip::address& where) const;
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// One thread at a time.
class HttpPost {
 public:
  explicit HttpPost(HttpTarget target);
  ~HttpPost();

  const HttpTarget& target() const { return target_; }

  // The status of the response, whose body is not read. Blocks; ECANCELED once `stop` is cancelled.
  // The sending process must ignore or block SIGPIPE.
  core::Result<unsigned> Send(const HttpHeaders& headers, std::string_view body,
                              std::chrono::steady_clock::time_point deadline,
                              const Cancellation& stop);

 private:
  class Client;
  using Addresses = std::vector<boost::asio::ip::address>;
  core::Result<Addresses> Resolve(std::chrono::steady_clock::time_point deadline,
                                  const Cancellation& stop);

  const HttpTarget target_;
  const std::shared_ptr<boost::asio::io_context> io_;
  egress::Resolver resolver_;
  std::unique_ptr<Client> client_;  // created when needed
};

// Precondition: Send has failed, or its response was not a success.
inline std::string WhyFailed(const core::Result<unsigned>& status) {
  return status ? "HTTP status " + std::to_string(*status) : status.error().ToString();
}

}  // namespace belljar::server::events

#endif  // BELLJAR_SERVER_EVENTS_HTTP_POST_H_
