// A request as the host sends it: a text, with what its door may do beside it, and content in this
// order: the source, the standard input, the inputs, the files. Of functions the names cross; they
// are called from there (frame.h).
#ifndef BELLJAR_CONTAINER_WIRE_REQUEST_TEXT_H_
#define BELLJAR_CONTAINER_WIRE_REQUEST_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "container/wire/content.h"
#include "container/wire/door_ledger.h"
#include "engine/core/bytes.h"
#include "engine/core/request.h"
#include "engine/core/result.h"

namespace belljar {

inline constexpr size_t kMaxRequestText = 16 * 1024 * 1024;
// Source, standard input, inputs and files together: what a guest may be made to hold.
inline constexpr Bytes kMaxRequestContent = Bytes::Mebi(512);

// Precondition: the paths of the files are UTF-8, as CheckFiles (engine/outside/workspace.h) has
// it. An error is a request that is too large for a container.
Result<std::string> RequestToText(const Request& request, const DoorBounds& door = {});
std::vector<std::string_view> RequestContent(const Request& request);

// `content` will fill `request`, which has to stay where it is. What is within a profile's limits,
// and which paths are any, is the sandbox's to judge. On an error both are worth nothing.
Result<void> ReadRequestText(std::string_view text, Request& request, DoorBounds& door,
                             Content& content);

}  // namespace belljar

#endif  // BELLJAR_CONTAINER_WIRE_REQUEST_TEXT_H_
