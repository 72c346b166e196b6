// Conversations: names of conversations over HTTP.
#ifndef BELLJAR_SERVER_MCP_CONVERSATIONS_H_
#define BELLJAR_SERVER_MCP_CONVERSATIONS_H_

#include <deque>
#include <mutex>
#include <set>
#include <string>

namespace belljar::server::mcp {

// Names of conversations over HTTP. No state is kept for a name, so names survive a restart of the
// server: any well-formed name is valid until it is ended. A name says whether its client can be
// asked for a program's input (elicitation.h).
class Conversations {
 public:
  static std::string NewName(bool can_be_asked = false);
  static bool CanBeAsked(const std::string& name);
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
