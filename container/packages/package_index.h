// The source of packages: one index that the operator configures, and the hosts of its files.
// Nothing has a default: no installation contacts a host that its operator has not named.
#ifndef BELLJAR_CONTAINER_PACKAGES_PACKAGE_INDEX_H_
#define BELLJAR_CONTAINER_PACKAGES_PACKAGE_INDEX_H_

#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/host/network_policy.h"

namespace belljar::container::packages {

// As configured.
struct PackageSource {
  std::string index;                       // "https://index.example.org/simple", as for pip
  std::string npm_registry;                // "https://registry.example.org", as for npm
  std::vector<std::string> hosts;          // additional ones: "files.example.org" (NetworkPolicy)
  std::vector<std::string> allow_private;  // as in NetworkPolicy
  std::vector<std::string> resolve;        // likewise
};

class PackageIndex {
 public:
  // Reports configuration errors; the detail gives the fix.
  static core::Result<PackageIndex> Parse(const PackageSource& source);
  // Of npm's packages.
  static core::Result<PackageIndex> ParseRegistry(PackageSource source) {
    source.index = source.npm_registry;
    return Parse(source);
  }

  // Only for pip: may contain a name and a password.
  const std::string& address() const { return address_; }
  // Without credentials, for display and records.
  const std::string& shown() const { return shown_; }
  // pip's output `text`, which may contain the credentials, without them.
  std::string WithoutAccount(std::string text) const;
  // The host that pip may use without TLS; empty: none, the address uses https.
  const std::string& trusted_host() const { return trusted_host_; }
  // For the installer's container: allows the index and the hosts of its files.
  const host::NetworkPolicy& network() const { return network_; }

 private:
  std::string address_;
  std::string shown_;
  std::string account_;  // "name:password", as configured
  std::string trusted_host_;
  host::NetworkPolicy network_;
};

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_PACKAGE_INDEX_H_
