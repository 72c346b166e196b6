// AllowList: the hosts and ports that an operator lets guests reach, or a caller narrows them to.
//
//   example.org          that name, on ports 80 and 443
//   *.example.org        every name below it, not itself
//   example.org:8443     that port only; "example.org:*": every port
//   192.0.2.7, [::1]     an address, where a guest writes it as one; a name never stands for it
//   *                    every name, and no address
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

// One line of the list.
struct HostPattern {
  enum class Scope { kExact, kBelow, kAnyName };
  enum class Ports { kWeb, kOne, kAll };

  Scope scope = Scope::kExact;
  HostName host;  // of kBelow what stands behind "*."; of kAnyName empty
  Ports ports = Ports::kWeb;
  uint16_t port = 0;  // of kOne

  // The error's operation is empty; its detail says what to write.
  static core::Result<HostPattern> Parse(std::string_view text);

  bool Matches(const HostName& name) const;
  bool Matches(uint16_t requested) const;
  // Whether each name that `narrower` matches is one of ours, and each port that it names. Without
  // a port it stands for those of the web that we have.
  bool Covers(const HostPattern& narrower) const;
};

class AllowList {
 public:
  AllowList() = default;
  // An error names the entry.
  static core::Result<AllowList> Parse(const std::vector<std::string>& entries);

  bool Allows(const HostName& host, uint16_t port) const;
  // The first entry of `narrower`, as it was written, that allows what this one does not.
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
