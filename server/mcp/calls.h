// Calls: what is running now, by conversation and request id, so that a later message can cancel
// it.
#ifndef BELLJAR_SERVER_MCP_CALLS_H_
#define BELLJAR_SERVER_MCP_CALLS_H_

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "server/core/cancellation.h"

namespace belljar::server::mcp {

// Any thread, many at once.
class Calls {
 public:
  // False: a call of that id is running in that conversation. Calls outside of a conversation
  // (empty name) cannot be told apart by id and are kept for CancelAll only.
  bool Begin(const std::string& conversation, const std::string& id,
             std::shared_ptr<Cancellation> cancellation);
  void Finish(const std::string& conversation, const std::string& id,
              const std::shared_ptr<Cancellation>& cancellation);

  // Nothing happens where there is no such call: it may just have finished.
  void Cancel(const std::string& conversation, const std::string& id);
  void CancelConversation(const std::string& conversation);
  void CancelAll();

 private:
  using Key = std::pair<std::string, std::string>;

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Cancellation>> calls_;
  std::set<std::shared_ptr<Cancellation>> outside_;
};

// The names of conversations over HTTP. They say nothing and stand for nothing that is kept here,
// so they outlive a restart of the server: any name of the right form is valid until it is ended.
class Conversations {
 public:
  static std::string NewName();
  bool IsValid(const std::string& caller, const std::string& name);
  // For that caller only. False: it was not valid.
  bool End(const std::string& caller, const std::string& name);

 private:
  // Ended names that are still remembered; past this the oldest are forgotten.
  static constexpr size_t kRemembered = 4096;

  std::mutex mutex_;
  using Key = std::pair<std::string, std::string>;  // caller, name

  std::set<Key> ended_;
  std::deque<Key> oldest_first_;
};

}  // namespace belljar::server::mcp

#endif  // BELLJAR_SERVER_MCP_CALLS_H_
