// EgressRules: an operator's NetworkPolicy, parsed and validated once for all runs of a sandbox.
#ifndef BELLJAR_ENGINE_EGRESS_EGRESS_RULES_H_
#define BELLJAR_ENGINE_EGRESS_EGRESS_RULES_H_

#include <boost/asio/ip/address.hpp>
#include <map>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/egress/address_policy.h"
#include "engine/egress/allow_list.h"
#include "engine/host/network_policy.h"

namespace belljar::egress {

struct EgressRules {
  AllowList allowed;
  AddressPolicy addresses;
  std::map<std::string, std::vector<boost::asio::ip::address>> resolved;  // by HostName::text
  host::NetworkBounds bounds;

  // An error names the entry.
  static core::Result<EgressRules> Make(const host::NetworkPolicy& policy);

  // Checks that `domains` only restrict what the operator allows. An error is the caller's and
  // names the entry that does not.
  core::Result<AllowList> Narrow(const std::vector<std::string>& domains) const;
};

}  // namespace belljar::egress

#endif  // BELLJAR_ENGINE_EGRESS_EGRESS_RULES_H_
