// What the tests of the wire share: frames as bytes, and a host's and a guest's texts to spoil.
#ifndef BELLJAR_TESTS_CONTAINER_FRAMES_H_
#define BELLJAR_TESTS_CONTAINER_FRAMES_H_

#include <string>
#include <string_view>

#include "container/wire/frame.h"
#include "container/wire/greeting.h"
#include "engine/core/version.h"

namespace belljar {

inline std::string FrameBytes(FrameKind kind, std::string_view payload = {}) {
  return EncodeFrameHeader(kind, payload.size()) + std::string(payload);
}

inline Hello ExpectedHello() {
  return {kContainerProtocol, kBelljarVersion, kPythonVersion, "basic", "standard", "restricted"};
}

inline std::string HelloBytes() {
  return FrameBytes(FrameKind::kHello, HelloToText(ExpectedHello()));
}

}  // namespace belljar

#endif  // BELLJAR_TESTS_CONTAINER_FRAMES_H_
