// DoorRules: an operator's NetworkPolicy, read and judged once for all runs of a sandbox.
#ifndef BELLJAR_ENGINE_DOOR_DOOR_RULES_H_
#define BELLJAR_ENGINE_DOOR_DOOR_RULES_H_

#include <boost/asio/ip/address.hpp>
#include <map>
#include <string>
#include <vector>

#include "engine/core/network_policy.h"
#include "engine/core/result.h"
#include "engine/door/address_judge.h"
#include "engine/door/allow_list.h"

namespace belljar {

struct DoorRules {
  AllowList allowed;
  AddressJudge addresses;
  std::map<std::string, std::vector<boost::asio::ip::address>> resolved;  // by HostName::text
  NetworkBounds bounds;

  // An error names the entry.
  static Result<DoorRules> Make(const NetworkPolicy& policy);

  // Whether `domains` only narrows what the operator allows. An error is the caller's and names the
  // entry that does not.
  Result<AllowList> Narrow(const std::vector<std::string>& domains) const;
};

}  // namespace belljar

#endif  // BELLJAR_ENGINE_DOOR_DOOR_RULES_H_
