// HostReader: what the guest reads of its host. The host is trusted, its bytes are judged all the
// same: half a request that is run for a whole one would be a wrong answer.
#ifndef BELLJAR_CONTAINER_WIRE_HOST_READER_H_
#define BELLJAR_CONTAINER_WIRE_HOST_READER_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "container/wire/content.h"
#include "container/wire/door_ledger.h"
#include "container/wire/frame.h"
#include "engine/core/request.h"
#include "engine/core/result.h"

namespace belljar {

class HostReader {
 public:
  HostReader() = default;
  HostReader(const HostReader&) = delete;

  // Before the first request is taken. An error is a fault; empty: there is no door.
  using DoorFrames = std::function<Result<void>(const Frame&)>;
  void TakeDoorBy(DoorFrames door) { door_ = std::move(door); }
  // The same of answers, which come only where the request has functions.
  using Answers = std::function<Result<void>(std::string answer)>;
  void TakeAnswersBy(Answers answers) { answers_ = std::move(answers); }

  // Bytes as they came. After an error there is nothing more to read.
  Result<void> Take(std::string_view bytes);

  bool has_request() const { return stage_ == Stage::kRunning || stage_ == Stage::kCancelled; }
  // Once has_request; once.
  Request TakeRequest() { return std::move(request_); }
  // What came with it.
  const DoorBounds& door_bounds() const { return door_bounds_; }
  bool cancelled() const { return stage_ == Stage::kCancelled; }

 private:
  enum class Stage { kWaiting, kContent, kRunning, kCancelled };

  size_t Longest(FrameKind kind) const;
  Result<void> TakeFrame(Frame frame);

  Stage stage_ = Stage::kWaiting;
  FrameDecoder frames_;
  Request request_;
  DoorBounds door_bounds_;
  Content content_;
  DoorFrames door_;
  Answers answers_;
  size_t longest_answer_ = 0;  // 0: nothing can have been asked
};

}  // namespace belljar

#endif  // BELLJAR_CONTAINER_WIRE_HOST_READER_H_
