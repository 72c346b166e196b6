// Event: one thread raises it; others poll for it along with other descriptors.
#ifndef BELLJAR_ENGINE_WAITING_EVENT_H_
#define BELLJAR_ENGINE_WAITING_EVENT_H_

#include <string>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/result.h"

namespace belljar::waiting {

class Event {
 public:
  // Uses one descriptor; without one the error (EMFILE, …) names `operation`.
  static core::Result<Event> Create(std::string operation);

  // Readable from Raise to Lower. Any thread; none of these calls blocks.
  int fd() const { return fd_.get(); }
  void Raise() const;
  void Lower() const;

 private:
  explicit Event(core::UniqueFd fd) : fd_(std::move(fd)) {}

  core::UniqueFd fd_;
};

}  // namespace belljar::waiting

#endif  // BELLJAR_ENGINE_WAITING_EVENT_H_
