// What a caller may ask to have installed: names and versions as PEP 508 has them, and nothing else
// of it. No address, path, option or marker: what is read here reaches pip as an argument, and of
// none of its texts pip can make anything but the name of a package of the index.
//
//   Result<std::vector<PackageRequirement>> asked = ParseRequirements({"Requests[socks] >= 2.31"});
//   (*asked)[0].ToString();                                       "requests[socks]>=2.31"
#ifndef BELLJAR_CONTAINER_PACKAGES_PACKAGE_REQUIREMENT_H_
#define BELLJAR_CONTAINER_PACKAGES_PACKAGE_REQUIREMENT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

namespace belljar::container::packages {

// Of one call, and the bytes of each.
inline constexpr size_t kMaxRequirements = 64;
inline constexpr size_t kMaxRequirement = 200;

struct PackageRequirement {
  std::string name;                     // normalised (PEP 503): "typing-extensions"
  std::vector<std::string> extras;      // likewise; sorted, each once
  std::vector<std::string> specifiers;  // ">=2.31", without spaces; sorted, each once

  std::string ToString() const;
  bool operator==(const PackageRequirement&) const = default;
};

// Runs of '-', '_' and '.' as one '-', in lower case: what is one name to an index.
std::string NormalizedPackageName(std::string_view name);

// Sorted by their names, so that the same request has one form. An error is the caller's: it quotes
// the text and says what may stand there.
core::Result<std::vector<PackageRequirement>> ParseRequirements(
    const std::vector<std::string>& texts);

// Whether an operator's patterns let `name`, which is normalised, be asked for. A pattern is a
// name, or the beginning of one followed by '*'. None lets nothing.
bool IsAllowedPackage(std::string_view name, const std::vector<std::string>& patterns);
// What is wrong with a pattern; nullptr: nothing.
const char* PackagePatternFault(std::string_view pattern);

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_PACKAGE_REQUIREMENT_H_
