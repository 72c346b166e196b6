// A request as sent by the host: a text, which also says what its egress proxy may do, and content
// in this order: the source, the standard input, the inputs, the files. Of functions only the names
// are sent; calls come back from the guest (frame.h).
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
// Source, standard input, inputs and files together: the maximum that a guest has to hold.
inline constexpr core::Bytes kMaxRequestContent = core::Bytes::Mebi(512);

// Precondition: the paths of the files are UTF-8, as ensured by CheckFiles
// (engine/workspace/workspace.h). An error means that the request is too large for a container.
core::Result<std::string> RequestToText(const host::Request& request,
                                        const EgressBounds& egress = {});
std::vector<std::string_view> RequestContent(const host::Request& request);

// `content` will fill `request`, which must not move. The sandbox checks the profile's limits and
// the paths. After an error both are invalid.
core::Result<void> ReadRequestText(std::string_view text, host::Request& request,
                                   EgressBounds& egress, Content& content);

}  // namespace belljar::container::wire

#endif  // BELLJAR_CONTAINER_WIRE_REQUEST_TEXT_H_
