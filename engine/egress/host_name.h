// HostName: a host as a guest or an operator wrote it, in the one form in which two spellings of it
// are equal. What some resolvers would take for an address and others would not ("127.1",
// "0x7f000001", "2130706433") is no host.
#ifndef BELLJAR_ENGINE_EGRESS_HOST_NAME_H_
#define BELLJAR_ENGINE_EGRESS_HOST_NAME_H_

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace belljar::egress {

struct HostName {
  std::string text;  // in lower case, without a trailing dot; of an address its shortest form
  std::optional<boost::asio::ip::address> address;  // of a literal; IPv4-mapped ones are IPv4

  // A DNS name (ASCII; others in their "xn--" form), or an address, of IPv6 with or without
  // brackets. nullopt: it is neither, or has a zone ("fe80::1%eth0").
  static std::optional<HostName> Parse(std::string_view text);
};

// "[2001:db8::1]" of an IPv6 address, else as it is.
std::string Bracketed(const HostName& host);

// "443"; nullopt for 0, for more than 65535, for a sign or a space.
std::optional<uint16_t> ParsePort(std::string_view text);

// "host:port", "[::1]:443"; the port may be missing. The views are parts of `text`; nullopt where
// the brackets do not match or an IPv6 address has none.
struct Authority {
  std::string_view host;
  std::optional<std::string_view> port;
};
std::optional<Authority> SplitAuthority(std::string_view text);

// IPv4 of an IPv4-mapped address (::ffff:0:0/96), which the kernel treats as that; else as it is.
boost::asio::ip::address Unmapped(const boost::asio::ip::address& address);

}  // namespace belljar::egress

#endif  // BELLJAR_ENGINE_EGRESS_HOST_NAME_H_
