// What the tests of the wire share: frames, and the greeting that is expected.
#ifndef BELLJAR_TESTS_CONTAINER_FRAMES_H_
#define BELLJAR_TESTS_CONTAINER_FRAMES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "container/wire/frame.h"
#include "container/wire/greeting.h"
#include "engine/host/version.h"

namespace belljar::tests {

inline std::string FrameBytes(container::wire::FrameKind kind, std::string_view payload = {}) {
  return container::wire::EncodeFrameHeader(kind, payload.size()) + std::string(payload);
}

inline std::string FrameBytes(const container::wire::Frame& frame) {
  return FrameBytes(frame.kind, frame.payload);
}

inline std::string NumberBytes(uint32_t number) {
  std::string bytes;
  container::wire::AppendNumber(bytes, number);
  return bytes;
}

// A frame of the egress proxy.
inline container::wire::Frame OpenFrame(uint32_t stream) {
  return {container::wire::FrameKind::kEgressOpen, NumberBytes(stream)};
}
inline container::wire::Frame DataFrame(uint32_t stream, std::string_view bytes) {
  return {container::wire::FrameKind::kEgressData, NumberBytes(stream) + std::string(bytes)};
}
inline container::wire::Frame WindowFrame(uint32_t stream, uint32_t count) {
  return {container::wire::FrameKind::kEgressWindow, NumberBytes(stream) + NumberBytes(count)};
}
inline container::wire::Frame CloseFrame(uint32_t stream, int ways) {
  return {container::wire::FrameKind::kEgressClose, NumberBytes(stream) + static_cast<char>(ways)};
}

// The body of a function call.
inline std::string CallBytes(std::string_view name, std::string_view arguments) {
  return FrameBytes(
      container::wire::FrameKind::kCall,
      NumberBytes(static_cast<uint32_t>(name.size())) + std::string(name) + std::string(arguments));
}

inline container::wire::Hello ExpectedHello() {
  return {container::wire::kContainerProtocol,
          host::kBelljarVersion,
          host::kPythonVersion,
          "basic",
          "standard",
          "on"};
}

inline std::string HelloBytes() {
  return FrameBytes(container::wire::FrameKind::kHello,
                    container::wire::HelloToText(ExpectedHello()));
}

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_CONTAINER_FRAMES_H_
