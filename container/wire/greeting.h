// A guest's first message about itself, and how it reports a failure of its machine.
#ifndef BELLJAR_CONTAINER_WIRE_GREETING_H_
#define BELLJAR_CONTAINER_WIRE_GREETING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "container/wire/frame.h"
#include "engine/core/result.h"

namespace belljar::container::wire {

inline constexpr size_t kMaxGreeting = 4 * 1024;

struct Hello {
  uint32_t protocol = kContainerProtocol;
  std::string belljar;  // its version
  std::string python;
  std::string profile;
  std::string isolation;  // "standard", "strict"
  std::string policy;     // "on", "off"
};

std::string HelloToText(const Hello& hello);
// For another protocol only the number is read: the error names it.
core::Result<Hello> ReadHello(std::string_view text);

// Checks that a guest is the requested one. The error says what to do.
core::Result<void> CheckHello(const Hello& hello, const Hello& expected);

// Displayed to users by the host: bounded, without control characters.
std::string FailureToText(const core::Error& error);
// Its errno is only in the detail text: the host acts on the number of an error (cancelled, too
// early), which a container must not control. A failure that could not be parsed is returned as an
// error too.
core::Error ReadFailure(std::string_view text);

}  // namespace belljar::container::wire

#endif  // BELLJAR_CONTAINER_WIRE_GREETING_H_
