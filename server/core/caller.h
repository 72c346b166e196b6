// Caller: the sender of a message, as identified by the transport, and what the operator grants
// them. Transports create it; tools and the queue enforce it; the protocol layer passes it through
// unread.
#ifndef BELLJAR_SERVER_CORE_CALLER_H_
#define BELLJAR_SERVER_CORE_CALLER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace belljar::server {

struct Caller {
  // Name of the token, for logs and metrics; "local" over stdio and when no token is required.
  std::string name = "local";
  // Profiles that calls may name; nullopt: all enabled profiles.
  std::optional<std::vector<std::string>> profiles;
  // Maximum number of calls running or waiting; 0: no limit besides the server's.
  size_t concurrency = 0;
  // Messages per second over HTTP, of any kind, and the burst size; 0: no limit.
  double rate = 0;
  size_t burst = 0;
  // May change the server's limits while it runs, and read audit log entries and events of others.
  bool is_operator = false;

  bool operator==(const Caller&) const = default;
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_CALLER_H_
