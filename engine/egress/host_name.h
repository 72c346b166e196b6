// HostName: a host as written by a guest or an operator, in canonical form, so that different
// spellings compare equal. What some resolvers would take for an address and others would not
// ("127.1", "0x7f000001", "2130706433") is not a host.
#ifndef BELLJAR_ENGINE_EGRESS_HOST_NAME_H_
#define BELLJAR_ENGINE_EGRESS_HOST_NAME_H_

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace belljar::egress {

struct HostName {
  std::string text;  // lower case, without a trailing dot; an address in its shortest form
  std::optional<boost::asio::ip::address>
      address;  // if it is a literal; IPv4-mapped ones become IPv4

  // A DNS name (ASCII; others in their "xn--" form), or an address, with or without brackets for
  // IPv6. nullopt: it is neither, or has a zone ("fe80::1%eth0").
  static std::optional<HostName> Parse(std::string_view text);
};

// "[2001:db8::1]" for an IPv6 address, else unchanged.
std::string Bracketed(const HostName& host);

// "443"; nullopt for 0, values above 65535, a sign or a space.
std::optional<uint16_t> ParsePort(std::string_view text);

// "host:port", "[::1]:443"; the port is optional. The views are parts of `text`; nullopt if the
// brackets do not match or an IPv6 address has none.
struct Authority {
  std::string_view host;
  std::optional<std::string_view> port;
};
std::optional<Authority> SplitAuthority(std::string_view text);

// The IPv4 address of an IPv4-mapped one (::ffff:0:0/96), which the kernel treats as IPv4; else
// unchanged.
boost::asio::ip::address Unmapped(const boost::asio::ip::address& address);

}  // namespace belljar::egress

#endif  // BELLJAR_ENGINE_EGRESS_HOST_NAME_H_
