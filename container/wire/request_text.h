// A request as the host sends it: a text, with what its egress proxy may do beside it, and content
// in this order: the source, the standard input, the inputs, the files. Of functions the names
// cross; they are called from there (frame.h).
#ifndef BELLJAR_CONTAINER_WIRE_REQUEST_TEXT_H_
#define BELLJAR_CONTAINER_WIRE_REQUEST_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "container/wire/content.h"
#include "container/wire/egress_ledger.h"
#include "engine/core/bytes.h"
#include "engine/core/result.h"
#include "engine/host/request.h"

namespace belljar::container::wire {

inline constexpr size_t kMaxRequestText = 16 * 1024 * 1024;
// Source, standard input, inputs and files together: what a guest may be made to hold.
inline constexpr core::Bytes kMaxRequestContent = core::Bytes::Mebi(512);

// Precondition: the paths of the files are UTF-8, as CheckFiles (engine/outside/workspace.h) has
// it. An error is a request that is too large for a container.
core::Result<std::string> RequestToText(const host::Request& request,
                                        const EgressBounds& egress = {});
std::vector<std::string_view> RequestContent(const host::Request& request);

// `content` will fill `request`, which has to stay where it is. What is within a profile's limits,
// and which paths are any, is the sandbox's to judge. On an error both are worth nothing.
core::Result<void> ReadRequestText(std::string_view text, host::Request& request,
                                   EgressBounds& egress, Content& content);

}  // namespace belljar::container::wire

#endif  // BELLJAR_CONTAINER_WIRE_REQUEST_TEXT_H_
