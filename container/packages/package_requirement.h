// What a caller may request for installation: names and versions of PEP 508, and nothing else from
// it. No addresses, paths, options or markers: these texts are passed to pip as arguments, and pip
// can only interpret them as names of packages on the index.
//
//   Result<std::vector<PackageRequirement>> parsed = ParseRequirements({"Requests[socks]
//   >= 2.31"});
//   (*parsed)[0].ToString();                                      "requests[socks]>=2.31"
#ifndef BELLJAR_CONTAINER_PACKAGES_PACKAGE_REQUIREMENT_H_
#define BELLJAR_CONTAINER_PACKAGES_PACKAGE_REQUIREMENT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

namespace belljar::container::packages {

// Per call, and the size of each in bytes.
inline constexpr size_t kMaxRequirements = 64;
inline constexpr size_t kMaxRequirement = 200;

struct PackageRequirement {
  std::string name;                     // normalised (PEP 503): "typing-extensions"
  std::vector<std::string> extras;      // likewise; sorted, without duplicates
  std::vector<std::string> specifiers;  // ">=2.31", without spaces; sorted, without duplicates

  std::string ToString() const;
  bool operator==(const PackageRequirement&) const = default;
};

// Sorted by name, so that equal requests have the same form. An error is the caller's: it quotes
// the text and says what is allowed.
core::Result<std::vector<PackageRequirement>> ParseRequirements(
    const std::vector<std::string>& texts);

// Whether an operator's patterns allow `name`, which is normalised. A pattern is a name, or a
// prefix followed by '*'. An empty list allows nothing.
bool IsAllowedPackage(std::string_view name, const std::vector<std::string>& patterns);

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_PACKAGE_REQUIREMENT_H_
