#include "engine/waiting/event.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace belljar::waiting {

core::Result<Event> Event::Create(std::string operation) {
  core::UniqueFd fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd) return core::SystemError(std::move(operation));
  return Event(std::move(fd));
}

void Event::Raise() const {
  const uint64_t one = 1;
  // Only fails if the counter is full; the event is then already raised.
  (void)!write(fd_.get(), &one, sizeof one);
}

void Event::Lower() const {
  uint64_t count;
  (void)!read(fd_.get(), &count, sizeof count);
}

}  // namespace belljar::waiting
