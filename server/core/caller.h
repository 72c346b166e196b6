// Caller: who sent a message, as the transport has established it, and what the operator grants
// them. Transports make it, tools and the queue obey it; the protocol hands it through unread.
#ifndef BELLJAR_SERVER_CORE_CALLER_H_
#define BELLJAR_SERVER_CORE_CALLER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace belljar::server {

struct Caller {
  // Of the token, for logs and metrics; "local" over stdio and where no token is asked for.
  std::string name = "local";
  // Profiles that calls may name; nullopt: every enabled one.
  std::optional<std::vector<std::string>> profiles;
  // Calls that may run or wait at a time; 0: as many as the server takes.
  size_t concurrency = 0;
  // Messages a second over HTTP, of any kind, and how many may come at once; 0: no limit.
  double rate = 0;
  size_t burst = 0;
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_CALLER_H_
