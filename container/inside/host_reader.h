// HostReader: parses what the host sends to the guest. The host is trusted, but its bytes are
// checked anyway: running half a request would produce a wrong answer.
#ifndef BELLJAR_CONTAINER_INSIDE_HOST_READER_H_
#define BELLJAR_CONTAINER_INSIDE_HOST_READER_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "container/wire/content.h"
#include "container/wire/egress_ledger.h"
#include "container/wire/frame.h"
#include "engine/core/result.h"
#include "engine/host/request.h"

namespace belljar::container::inside {

class HostReader {
 public:
  HostReader() = default;
  HostReader(const HostReader&) = delete;

  // Set before the first Take. An error is a fault; empty: no egress proxy.
  using EgressFrames = std::function<core::Result<void>(const wire::Frame&)>;
  void TakeEgressBy(EgressFrames egress) { egress_ = std::move(egress); }
  // The same for answers, which only come if the request has functions.
  using Answers = std::function<core::Result<void>(std::string answer)>;
  void TakeAnswersBy(Answers answers) { answers_ = std::move(answers); }

  // Takes received bytes. After an error nothing more can be read.
  core::Result<void> Take(std::string_view bytes);

  bool has_request() const { return stage_ == Stage::kRunning || stage_ == Stage::kCancelled; }
  // Once has_request, and only once.
  host::Request TakeRequest() { return std::move(request_); }
  // What came with the request.
  const wire::EgressBounds& egress_bounds() const { return egress_bounds_; }
  bool cancelled() const { return stage_ == Stage::kCancelled; }

 private:
  enum class Stage { kWaiting, kContent, kRunning, kCancelled };

  size_t MaxLength(wire::FrameKind kind) const;
  core::Result<void> TakeFrame(wire::Frame frame);

  Stage stage_ = Stage::kWaiting;
  wire::FrameDecoder frames_;
  host::Request request_;
  wire::EgressBounds egress_bounds_;
  wire::Content content_;
  EgressFrames egress_;
  Answers answers_;
  size_t max_answer_length_ = 0;  // 0: no call can have been made
};

}  // namespace belljar::container::inside

#endif  // BELLJAR_CONTAINER_INSIDE_HOST_READER_H_
