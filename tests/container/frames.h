// What the tests of the wire share: frames, and the greeting that is expected.
#ifndef BELLJAR_TESTS_CONTAINER_FRAMES_H_
#define BELLJAR_TESTS_CONTAINER_FRAMES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "container/wire/frame.h"
#include "container/wire/greeting.h"
#include "engine/core/version.h"

namespace belljar {

inline std::string FrameBytes(FrameKind kind, std::string_view payload = {}) {
  return EncodeFrameHeader(kind, payload.size()) + std::string(payload);
}

inline std::string FrameBytes(const Frame& frame) { return FrameBytes(frame.kind, frame.payload); }

inline std::string NumberBytes(uint32_t number) {
  std::string bytes;
  AppendNumber(bytes, number);
  return bytes;
}

// Of a door.
inline Frame OpenFrame(uint32_t stream) { return {FrameKind::kDoorOpen, NumberBytes(stream)}; }
inline Frame DataFrame(uint32_t stream, std::string_view bytes) {
  return {FrameKind::kDoorData, NumberBytes(stream) + std::string(bytes)};
}
inline Frame WindowFrame(uint32_t stream, uint32_t count) {
  return {FrameKind::kDoorWindow, NumberBytes(stream) + NumberBytes(count)};
}
inline Frame CloseFrame(uint32_t stream, int ways) {
  return {FrameKind::kDoorClose, NumberBytes(stream) + static_cast<char>(ways)};
}

// Of a function.
inline std::string CallBytes(std::string_view name, std::string_view arguments) {
  return FrameBytes(FrameKind::kCall, NumberBytes(static_cast<uint32_t>(name.size())) +
                                          std::string(name) + std::string(arguments));
}

inline Hello ExpectedHello() {
  return {kContainerProtocol, kBelljarVersion, kPythonVersion, "basic", "standard", "restricted"};
}

inline std::string HelloBytes() {
  return FrameBytes(FrameKind::kHello, HelloToText(ExpectedHello()));
}

}  // namespace belljar

#endif  // BELLJAR_TESTS_CONTAINER_FRAMES_H_
