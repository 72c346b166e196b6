#include "engine/egress/resolver.h"

#include <netdb.h>
#include <netinet/in.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "engine/core/thread.h"

namespace belljar::egress {
namespace {

constexpr size_t kMaxThreads = 4;
constexpr size_t kMaxWaiting = 256;
// Only the first few addresses of a name are tried, even if it has hundreds.
constexpr size_t kMaxAddresses = 16;

}  // namespace

// Shared by the threads and the resolver. The threads are detached and share ownership, so that an
// ending program does not wait for a name server.
struct Resolver::Shared : std::enable_shared_from_this<Resolver::Shared> {
  struct Job {
    std::string name;
    Callback callback;
  };

  Shared(std::shared_ptr<boost::asio::io_context> context, Lookup function)
      : io(std::move(context)), lookup(std::move(function)) {}

  void Work() {
    std::unique_lock lock(mutex);
    for (;;) {
      ++idle;
      changed.wait(lock, [this] { return closing || !jobs.empty(); });
      --idle;
      if (closing) return;
      Job job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      Addresses addresses = lookup(job.name);
      Deliver(std::move(job), std::move(addresses));
      lock.lock();
    }
  }

  void Deliver(Job job, Addresses addresses) {
    const std::lock_guard lock(mutex);
    if (closing) return;
    boost::asio::post(
        *io, [callback = std::move(job.callback), addresses = std::move(addresses)]() mutable {
          callback(std::move(addresses));
        });
  }

  // If no thread can be started, the others do the work.
  core::Result<void> StartThread() {
    core::Thread thread;
    core::Result<void> started =
        thread.Start("look up a name", [self = shared_from_this()] { self->Work(); });
    if (!started) return started;
    thread.Detach();
    ++threads;
    return {};
  }

  const std::shared_ptr<boost::asio::io_context> io;
  const Lookup lookup;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> jobs;
  size_t threads = 0;
  size_t idle = 0;
  bool closing = false;
};

Addresses LookUpByHost(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  // The name was validated before; services are numbers here.
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  const int code = getaddrinfo(name.c_str(), nullptr, &hints, &list);
  Addresses addresses;
  if (code != 0) {
    addresses.failure = code == EAI_SYSTEM ? strerror(errno) : gai_strerror(code);
    return addresses;
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);
  for (const addrinfo* item = list; item && addresses.found.size() < kMaxAddresses;
       item = item->ai_next) {
    boost::asio::ip::tcp::endpoint endpoint;
    if (item->ai_addrlen > endpoint.capacity()) continue;
    memcpy(endpoint.data(), item->ai_addr, item->ai_addrlen);
    endpoint.resize(item->ai_addrlen);
    addresses.found.push_back(endpoint.address());
  }
  if (addresses.found.empty()) addresses.failure = "it has no address";
  return addresses;
}

Resolver::Resolver(std::shared_ptr<boost::asio::io_context> io, Lookup lookup)
    : shared_(std::make_shared<Shared>(std::move(io), std::move(lookup))) {}

Resolver::~Resolver() {
  const std::lock_guard lock(shared_->mutex);
  shared_->closing = true;
  shared_->changed.notify_all();
}

void Resolver::Resolve(std::string name, Callback callback) {
  const std::lock_guard lock(shared_->mutex);
  const auto refuse = [&](std::string why) {
    boost::asio::post(*shared_->io, [callback = std::move(callback), why = std::move(why)] {
      callback({{}, why});
    });
  };
  if (shared_->jobs.size() >= kMaxWaiting) {
    return refuse("too many names are being looked up: try again later");
  }
  if (shared_->idle <= shared_->jobs.size() && shared_->threads < kMaxThreads) {
    const core::Result<void> started = shared_->StartThread();
    if (!started && shared_->threads == 0) return refuse(started.error().ToString());
  }
  shared_->jobs.push_back({std::move(name), std::move(callback)});
  shared_->changed.notify_one();
}

}  // namespace belljar::egress
