#include "engine/egress/egress_rules.h"

#include <utility>

#include "engine/core/text.h"
#include "engine/egress/host_name.h"

namespace belljar::egress {
namespace {

core::Result<void> ReadResolved(const std::string& entry, EgressRules& rules) {
  const core::Error malformed =
      core::MakeError("address of a name " + core::Quoted(entry),
                      "write NAME=ADDRESS, such as api.example.org=192.0.2.7");
  const size_t equals = entry.find('=');
  if (equals == entry.npos) return malformed;
  const std::optional<HostName> name = HostName::Parse(entry.substr(0, equals));
  const std::optional<HostName> address = HostName::Parse(entry.substr(equals + 1));
  if (!name || name->address || !address || !address->address) return malformed;
  rules.resolved[name->text].push_back(*address->address);
  return {};
}

}  // namespace

core::Result<EgressRules> EgressRules::Make(const host::NetworkPolicy& policy) {
  EgressRules rules;
  rules.bounds = policy.bounds;
  core::Result<AllowList> allowed = AllowList::Parse(policy.allowed_domains);
  if (!allowed) return allowed.error();
  rules.allowed = std::move(*allowed);
  core::Result<AddressPolicy> addresses = AddressPolicy::Make(policy.allow_private);
  if (!addresses) return addresses.error();
  rules.addresses = std::move(*addresses);
  for (const std::string& entry : policy.resolve) {
    if (core::Result<void> read = ReadResolved(entry, rules); !read) return read.error();
  }
  return rules;
}

core::Result<AllowList> EgressRules::Narrow(const std::vector<std::string>& domains) const {
  core::Result<AllowList> narrower = AllowList::Parse(domains);
  if (!narrower) return narrower;
  if (const std::optional<std::string> wider = allowed.NotCovered(*narrower)) {
    return core::MakeError(
        "allowed domain " + core::Quoted(*wider),
        "the operator's list does not allow it, and a call can only narrow that list");
  }
  return narrower;
}

}  // namespace belljar::egress
