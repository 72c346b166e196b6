// The control groups of containers, of whichever engine and version.
#ifndef BELLJAR_TESTS_CONTAINER_CONTROL_GROUPS_H_
#define BELLJAR_TESTS_CONTAINER_CONTROL_GROUPS_H_

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <vector>

namespace belljar::tests {

// Paths of those that are named for one of `ids`. Groups of others that end meanwhile may hide some
// of them: ask again before believing that there is none.
inline std::vector<std::string> ControlGroupsOf(const std::set<std::string>& ids) {
  namespace fs = std::filesystem;
  std::vector<std::string> groups;
  std::error_code code;
  fs::recursive_directory_iterator each("/sys/fs/cgroup",
                                        fs::directory_options::skip_permission_denied, code);
  for (; !code && each != fs::recursive_directory_iterator(); each.increment(code)) {
    const std::string name = each->path().filename().string();
    const auto is_in = [&](const std::string& id) { return name.find(id) != name.npos; };
    if (std::ranges::any_of(ids, is_in)) groups.push_back(each->path().string());
  }
  return groups;
}

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_CONTAINER_CONTROL_GROUPS_H_
