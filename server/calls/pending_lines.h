// PendingLines: lines of programs' input that their callers have been asked for and that have not
// come yet. How a caller is asked, and how the answer arrives, is up to the API.
//
//   call.ask_for_line = lines.For(owner, cancellation, [=](uint64_t id, const std::string& prompt)
//   {
//     reply->Notify(QuestionText(id, prompt));
//   });
//   lines.Answer(owner, id, line);   // any thread
#ifndef BELLJAR_SERVER_CALLS_PENDING_LINES_H_
#define BELLJAR_SERVER_CALLS_PENDING_LINES_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "server/calls/tool.h"
#include "server/core/cancellation.h"

namespace belljar::server {

class PendingLines {
 public:
  // The longest that the questions of one call wait, together. Afterwards its input has ended.
  static constexpr std::chrono::minutes kTimeout{10};
  // Longer lines are cut.
  static constexpr size_t kMaxLine = size_t{64} << 10;  // bytes

  explicit PendingLines(std::chrono::milliseconds timeout = kTimeout) : timeout_(timeout) {}

  // Asks whoever made one call, on its thread.
  using Ask = std::function<void(uint64_t id, const std::string& prompt)>;

  // For one call. Only `owner` can answer. `cancellation` may be null; it ends the input. This
  // object must outlive the call.
  AskForLine For(std::string owner, std::shared_ptr<Cancellation> cancellation, Ask ask);

  // nullopt: the input has ended. False: nobody waits for this answer of this owner.
  bool Answer(const std::string& owner, uint64_t id, std::optional<std::string> line);

 private:
  struct Question;
  using Key = std::pair<std::string, uint64_t>;

  std::shared_ptr<Question> Add(const std::string& owner, uint64_t& id);
  std::shared_ptr<Question> Remove(const std::string& owner, uint64_t id);

  const std::chrono::milliseconds timeout_;
  std::mutex mutex_;
  uint64_t last_id_ = 0;
  std::map<Key, std::shared_ptr<Question>> pending_;
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CALLS_PENDING_LINES_H_
