// Resolver: addresses of names, by the host's own means (getaddrinfo), on threads of its own: a
// lookup may block for many seconds. Few threads and a bounded queue, so that guests who ask for
// what nobody answers only hold up each other.
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

// Blocks; any thread, several at once.
using Lookup = std::function<Addresses(const std::string& name)>;
Addresses LookUpByHost(const std::string& name);

class Resolver {
 public:
  using Callback = std::function<void(Addresses)>;

  // Callbacks run in `io`. What is under way when the resolver goes is abandoned: it is not waited
  // for, and its callback not run.
  Resolver(std::shared_ptr<boost::asio::io_context> io, Lookup lookup);
  ~Resolver();

  // Any thread. Where too many wait the callback gets a failure at once.
  void Resolve(std::string name, Callback callback);

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace belljar::egress

#endif  // BELLJAR_ENGINE_EGRESS_RESOLVER_H_
