// What a guest says of itself before anything else, and how it says that its machine has failed.
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
  std::string language;   // "restricted", "full"
};

std::string HelloToText(const Hello& hello);
// Of another protocol nothing is read but its number: the error says which it is.
core::Result<Hello> ReadHello(std::string_view text);

// Whether a guest is the one that was asked for. The error says what to do.
core::Result<void> CheckHello(const Hello& hello, const Hello& expected);

// The host shows it to people: bounded, without control characters.
std::string FailureToText(const core::Error& error);
// Its errno is in the detail, for people to read: by the number of an error the host acts (one that
// it was cancelled, that it is too early), and that is not a container's to say. An error that
// could not be read is one too.
core::Error ReadFailure(std::string_view text);

}  // namespace belljar::container::wire

#endif  // BELLJAR_CONTAINER_WIRE_GREETING_H_
