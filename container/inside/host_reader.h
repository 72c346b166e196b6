// HostReader: parses what the host sends to the guest. The host is trusted, but its bytes are
// checked anyway: running half a request would produce a wrong answer.
#ifndef BELLJAR_CONTAINER_INSIDE_HOST_READER_H_
#define BELLJAR_CONTAINER_INSIDE_HOST_READER_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "container/wire/content.h"
#include "container/wire/egress_ledger.h"
#include "container/wire/frame.h"
#include "container/wire/session_text.h"
#include "engine/core/limits.h"
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
  // Likewise for answers, which only come if the request has functions.
  using Answers = std::function<core::Result<void>(std::string answer)>;
  void TakeAnswersBy(Answers answers) { answers_ = std::move(answers); }

  // Takes received bytes. After an error nothing more can be read.
  core::Result<void> Take(std::string_view bytes);

  // What the host wants next: a run or a cell, a session, or something between its cells.
  struct Order {
    enum class Kind { kRequest, kSession, kInquiry };
    Kind kind = Kind::kRequest;
    host::Request request;
    wire::EgressBounds egress_bounds;
    core::Limits limits;  // of the session
    wire::Inquiry inquiry;
  };
  // Each is returned once. Another one only follows in a session; the caller knows whether it is
  // due.
  std::optional<Order> TakeOrder();
  bool has_order() const { return !orders_.empty(); }
  // The last request.
  bool cancelled() const { return stage_ == Stage::kCancelled; }

 private:
  enum class Stage { kWaiting, kContent, kRunning, kCancelled };

  size_t MaxLength(wire::FrameKind kind) const;
  size_t MaxOrder(wire::FrameKind kind) const;
  core::Result<void> TakeFrame(wire::Frame frame);
  core::Result<void> ReadOrder(const wire::Frame& frame);

  Stage stage_ = Stage::kWaiting;
  bool is_session_ = false;
  wire::FrameDecoder frames_;
  Order order_;               // that is arriving
  std::deque<Order> orders_;  // complete, but not taken yet
  wire::Content content_;
  EgressFrames egress_;
  Answers answers_;
  size_t max_answer_length_ = 0;  // 0: no call can have been made
};

}  // namespace belljar::container::inside

#endif  // BELLJAR_CONTAINER_INSIDE_HOST_READER_H_
