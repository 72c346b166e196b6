// Resolver: resolves names with the host's resolver (getaddrinfo), on its own threads, since a
// lookup may block for many seconds. Few threads and a bounded queue, so that guests whose lookups
// hang only delay each other.
#ifndef BELLJAR_ENGINE_EGRESS_RESOLVER_H_
#define BELLJAR_ENGINE_EGRESS_RESOLVER_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace belljar::egress {

struct Addresses {
  std::vector<boost::asio::ip::address> found;  // in the order to try them
  std::string failure;                          // why there are none
};

// Blocks; any thread, concurrently.
using Lookup = std::function<Addresses(const std::string& name)>;
Addresses LookUpByHost(const std::string& name);

class Resolver {
 public:
  using Callback = std::function<void(Addresses)>;

  // Callbacks run in `io`. Lookups that are pending when the resolver is destroyed are abandoned:
  // nobody waits for them, and their callbacks do not run.
  Resolver(std::shared_ptr<boost::asio::io_context> io, Lookup lookup);
  ~Resolver();

  // Any thread. If the queue is full, the callback gets a failure immediately.
  void Resolve(std::string name, Callback callback);

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace belljar::egress

#endif  // BELLJAR_ENGINE_EGRESS_RESOLVER_H_
