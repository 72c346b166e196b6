// Where this user's lasting state is kept: histories, keys, logs, changes.
#ifndef BELLJAR_ENGINE_HOST_STATE_PATH_H_
#define BELLJAR_ENGINE_HOST_STATE_PATH_H_

#include <string>
#include <string_view>

namespace belljar::host {

// $XDG_STATE_HOME/belljar/NAME, or below ~/.local/state; empty: no home folder.
std::string StatePath(std::string_view name);

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_STATE_PATH_H_
