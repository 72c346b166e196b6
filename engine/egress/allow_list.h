// AllowList: the hosts and ports that an operator allows guests to reach, or to which a caller
// restricts a run.
//
//   example.org          that name, on ports 80 and 443
//   *.example.org        every name below it, not itself
//   example.org:8443     that port only; "example.org:*": every port
//   192.0.2.7, [::1]     an address, if the guest uses it literally; names never match it
//   *                    every name, but no address
#ifndef BELLJAR_ENGINE_EGRESS_ALLOW_LIST_H_
#define BELLJAR_ENGINE_EGRESS_ALLOW_LIST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/egress/host_name.h"

namespace belljar::egress {

// One entry of the list.
struct HostPattern {
  enum class Scope { kExact, kBelow, kAnyName };
  enum class Ports { kWeb, kOne, kAll };

  Scope scope = Scope::kExact;
  HostName host;  // for kBelow what follows "*."; for kAnyName empty
  Ports ports = Ports::kWeb;
  uint16_t port = 0;  // for kOne

  // The error's operation is empty; its detail says what to write.
  static core::Result<HostPattern> Parse(std::string_view text);

  bool Matches(const HostName& name) const;
  bool Matches(uint16_t requested) const;
  // Whether every name and every port that `narrower` matches is also matched by this pattern.
  // Without a port, it stands for those of ports 80 and 443 that this pattern allows.
  bool Covers(const HostPattern& narrower) const;
};

class AllowList {
 public:
  AllowList() = default;
  // An error names the entry.
  static core::Result<AllowList> Parse(const std::vector<std::string>& entries);

  bool Allows(const HostName& host, uint16_t port) const;
  // Its first entries, for people; "none".
  std::string Text() const;
  // The first entry of `narrower`, as written, that allows more than this list.
  std::optional<std::string> NotCovered(const AllowList& narrower) const;

 private:
  struct Entry {
    std::string text;
    HostPattern pattern;
  };
  std::vector<Entry> entries_;
};

}  // namespace belljar::egress

#endif  // BELLJAR_ENGINE_EGRESS_ALLOW_LIST_H_
