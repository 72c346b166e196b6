// What a caller may request for installation: names and versions of PEP 508 and digests as in a
// requirements file of pip, and nothing else. No addresses, paths, other options or markers: these
// texts are passed to pip, which can only interpret them as names of packages on the index. The
// same holds for npm's: "npm:", a name, and behind an @ a range of versions or a tag.
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

// Per call, and the size of each in bytes: without digests, and with those of all its wheels.
inline constexpr size_t kMaxRequirements = 256;
inline constexpr size_t kMaxRequirement = 200;
inline constexpr size_t kMaxLockedRequirement = size_t{16} << 10;

inline constexpr char kNpmPrefix[] = "npm:";

struct PackageRequirement {
  std::string name;                     // normalised (PEP 503): "typing-extensions"; "npm:left-pad"
  std::vector<std::string> extras;      // likewise; sorted, without duplicates
  std::vector<std::string> specifiers;  // ">=2.31", without spaces; sorted, without duplicates
                                        // npm's: one, "^1.3"
  // SHA-256 of the files that may be taken, 64 digits each; likewise. Empty: any. Where one package
  // of a call has some, pip requires them of all, dependencies included.
  std::vector<std::string> hashes;

  bool is_npm() const { return name.starts_with(kNpmPrefix); }
  // "requests>=2.31 --hash=sha256:…", "npm:left-pad@^1.3"
  std::string ToString() const;
  bool operator==(const PackageRequirement&) const = default;
};

// Sorted by name, so that equal requests have the same form. An error is the caller's: it quotes
// the text and says what is allowed.
core::Result<std::vector<PackageRequirement>> ParseRequirements(
    const std::vector<std::string>& texts);

// Whether an operator's patterns allow `name`, which is normalised. A pattern is a name, or a
// prefix followed by '*': "*" allows all of Python's, "npm:*" all of npm's. An empty list allows
// nothing.
bool IsAllowedPackage(std::string_view name, const std::vector<std::string>& patterns);

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_PACKAGE_REQUIREMENT_H_
