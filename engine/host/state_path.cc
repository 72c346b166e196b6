#include "engine/host/state_path.h"

#include <cstdlib>

namespace belljar::host {

std::string StatePath(std::string_view name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets variables
  const char* state = getenv("XDG_STATE_HOME");
  // Relative paths are invalid there (XDG Base Directory Specification).
  if (state && *state == '/') return std::string(state) + "/belljar/" + std::string(name);
  const char* home = getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
  if (!home || *home != '/') return "";
  return std::string(home) + "/.local/state/belljar/" + std::string(name);
}

}  // namespace belljar::host
