#include "engine/profiles/profile_names.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "engine/core/text.h"

namespace belljar::profiles {

bool IsProfileFile(std::string_view written) {
  return written.find('/') != written.npos || written.ends_with(".toml");
}

std::vector<std::string> PartsOf(std::string_view name) {
  const std::vector<std::string_view> parts = core::SplitAt(name, '+');
  return {parts.begin(), parts.end()};
}

std::string ProfileName(std::string_view written) {
  std::string name(written);
  std::replace(name.begin(), name.end(), '_', '-');
  if (name.find('+') == std::string::npos) return name;
  const std::vector<std::string> parts = PartsOf(name);
  std::set<std::string> sorted(parts.begin(), parts.end());
  if (sorted.size() > 1) sorted.erase("basic");
  std::string joined = *sorted.begin();
  for (auto part = std::next(sorted.begin()); part != sorted.end(); ++part) joined += "+" + *part;
  return joined;
}

}  // namespace belljar::profiles
