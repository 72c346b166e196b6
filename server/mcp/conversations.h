// RunningRequests: the calls in progress, by conversation and request id, so that a later message
// can cancel them; Conversations: names of conversations over HTTP.
#ifndef BELLJAR_SERVER_MCP_CONVERSATIONS_H_
#define BELLJAR_SERVER_MCP_CONVERSATIONS_H_

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "server/core/cancellation.h"

namespace belljar::server::mcp {

// Any thread, concurrently.
class RunningRequests {
 public:
  // False: a call with this id is already running in this conversation. Calls outside a
  // conversation (empty name) cannot be distinguished by id, and are not kept.
  bool Begin(const std::string& conversation, const std::string& id,
             std::shared_ptr<Cancellation> cancellation);
  void Finish(const std::string& conversation, const std::string& id);

  // Does nothing if there is no such call: it may just have finished.
  void Cancel(const std::string& conversation, const std::string& id);
  void CancelConversation(const std::string& conversation);

 private:
  using Key = std::pair<std::string, std::string>;

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Cancellation>> requests_;
};

// Names of conversations over HTTP. A name carries no information and no state is kept for it, so
// names survive a restart of the server: any well-formed name is valid until it is ended.
class Conversations {
 public:
  static std::string NewName();
  bool IsValid(const std::string& caller, const std::string& name);
  // For this caller only. False: the name was not valid.
  bool End(const std::string& caller, const std::string& name);

 private:
  // Maximum number of ended names to remember; beyond it the oldest are forgotten.
  static constexpr size_t kRemembered = 4096;

  std::mutex mutex_;
  using Key = std::pair<std::string, std::string>;  // caller, name

  std::set<Key> ended_;
  std::deque<Key> oldest_first_;
};

}  // namespace belljar::server::mcp

#endif  // BELLJAR_SERVER_MCP_CONVERSATIONS_H_
