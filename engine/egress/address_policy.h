// AddressPolicy: whether the host may connect to an address for a guest. Only public addresses are
// allowed: the special-purpose blocks of IANA's registries (RFC 6890 and later additions) and this
// machine's own addresses are refused, also if an IPv6 address contains an IPv4 address. The check
// applies to the resolved address, immediately before the connection to exactly that address, so a
// change of the DNS answer cannot bypass it.
#ifndef BELLJAR_ENGINE_EGRESS_ADDRESS_POLICY_H_
#define BELLJAR_ENGINE_EGRESS_ADDRESS_POLICY_H_

#include <boost/asio/ip/address.hpp>
#include <string>
#include <vector>

#include "engine/core/result.h"

namespace belljar::egress {

// A block of addresses. Both families as 128 bits: IPv4 in its mapped form.
struct AddressBlock {
  boost::asio::ip::address_v6::bytes_type bits{};
  unsigned prefix = 128;

  // "10.0.0.0/8", "192.0.2.7", "fd00::/8". The error's detail says what to write.
  static core::Result<AddressBlock> Parse(const std::string& text);
  bool Contains(const boost::asio::ip::address& address) const;
};

class AddressPolicy {
 public:
  AddressPolicy() = default;
  // `allowed`: blocks that an operator permits although they are not public. An error names the
  // entry.
  static core::Result<AddressPolicy> Make(const std::vector<std::string>& allowed);

  // Why it may not, such as "is loopback"; empty: it may. Any thread.
  std::string Violation(const boost::asio::ip::address& address) const;

 private:
  std::vector<AddressBlock> allowed_;
};

}  // namespace belljar::egress

#endif  // BELLJAR_ENGINE_EGRESS_ADDRESS_POLICY_H_
