#include "engine/host/suggest.h"

#include <algorithm>
#include <numeric>

namespace belljar::host {
namespace {

// Levenshtein distance, one row at a time.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string Suggestion(std::string_view name, const std::vector<std::string>& known) {
  // Names come from users and files. A long one is not a misspelling, and would be slow to compare.
  if (name.size() > 64) return "";
  const std::string* best = nullptr;
  // Some of what was written must remain: "os" is not a misspelling of "csv".
  size_t least = std::min(std::max<size_t>(2, name.size() / 3) + 1, name.size());
  for (const std::string& candidate : known) {
    const size_t distance = Distance(name, candidate);
    if (distance < least) {
      least = distance;
      best = &candidate;
    }
  }
  return best ? "; did you mean \"" + *best + "\"?" : "";
}

}  // namespace belljar::host
