// Where packages come from: one index that an operator names, and the hosts that its files come
// from. Nothing here has a default: no installation asks anybody whom its operator has not named.
#ifndef BELLJAR_CONTAINER_PACKAGES_PACKAGE_INDEX_H_
#define BELLJAR_CONTAINER_PACKAGES_PACKAGE_INDEX_H_

#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/host/network_policy.h"

namespace belljar::container::packages {

// As it was written.
struct PackageSource {
  std::string index;                       // "https://index.example.org/simple", as pip takes it
  std::vector<std::string> hosts;          // more of them: "files.example.org" (NetworkPolicy)
  std::vector<std::string> allow_private;  // as in NetworkPolicy
  std::vector<std::string> resolve;        // likewise
};

class PackageIndex {
 public:
  // An error is the operator's, and says what to write.
  static core::Result<PackageIndex> Parse(const PackageSource& source);

  // For pip alone: it may hold a name and a password.
  const std::string& address() const { return address_; }
  // To be shown and recorded: without them.
  const std::string& shown() const { return shown_; }
  // `text` of pip's, in which they may stand all the same, without them.
  std::string WithoutAccount(std::string text) const;
  // Whom pip is to trust without TLS; empty: nobody, the address is an https one.
  const std::string& trusted_host() const { return trusted_host_; }
  // Of the installer's container: to the index and the hosts of its files.
  const host::NetworkPolicy& network() const { return network_; }

 private:
  std::string address_;
  std::string shown_;
  std::string account_;  // "name:password", as they are written
  std::string trusted_host_;
  host::NetworkPolicy network_;
};

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_PACKAGE_INDEX_H_
