#include "engine/egress/egress_proxy.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <mutex>
#include <utility>

#include "engine/core/thread.h"
#include "engine/egress/proxy_connection.h"
#include "engine/egress/run_network.h"

namespace belljar::egress {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// Connections that may be open in addition to those to hosts: still requesting, or being refused.
constexpr size_t kMaxPending = 16;
// After running out of descriptors or memory; the connection waits in the kernel's queue.
constexpr std::chrono::milliseconds kAcceptPause{100};

}  // namespace

// --- the service ----------------------------------------------------------------------------

class EgressService::Loop {
 public:
  explicit Loop(Lookup lookup)
      : io_(std::make_shared<asio::io_context>()),
        work_(io_->get_executor()),
        resolver_(io_, std::move(lookup)) {}

  ~Loop() {
    io_->stop();
    thread_.Join();
  }

  core::Result<void> Start() {
    return thread_.Start("start the egress proxy", [this] { io_->run(); });
  }

  asio::io_context& io() { return *io_; }
  Resolver& resolver() { return resolver_; }

 private:
  const std::shared_ptr<asio::io_context> io_;
  const asio::executor_work_guard<asio::io_context::executor_type> work_;
  Resolver resolver_;
  core::Thread thread_;
};

EgressService::EgressService(EgressRules rules, std::unique_ptr<Loop> loop)
    : rules_(std::make_shared<const EgressRules>(std::move(rules))), loop_(std::move(loop)) {}

EgressService::~EgressService() = default;

core::Result<std::unique_ptr<EgressService>> EgressService::Start(EgressRules rules,
                                                                  Lookup lookup) {
  auto loop = std::make_unique<Loop>(std::move(lookup));
  if (core::Result<void> started = loop->Start(); !started) return started.error();
  return std::unique_ptr<EgressService>(new EgressService(std::move(rules), std::move(loop)));
}

size_t EgressService::MaxOpen() const { return rules_->bounds.concurrent + kMaxPending; }

core::Result<std::optional<AllowList>> Narrower(const EgressService* service,
                                                const host::Request& request) {
  if (!request.allowed_domains) return std::optional<AllowList>();
  if (!service) {
    return core::MakeError("restrict the allowed domains",
                           "this profile has no network to restrict");
  }
  core::Result<AllowList> narrower = service->rules().Narrow(*request.allowed_domains);
  if (!narrower) return narrower.error();
  return std::optional<AllowList>(std::move(*narrower));
}

// --- one run --------------------------------------------------------------------------------

// Accepts connections of the listener. All entry points take the run's lock.
class EgressProxy::Reception : public std::enable_shared_from_this<EgressProxy::Reception> {
 public:
  Reception(EgressService::Loop& loop, std::shared_ptr<const EgressRules> rules,
            std::optional<AllowList> narrower)
      : loop_(loop),
        run_(std::make_shared<RunNetwork>(std::move(rules), std::move(narrower))),
        listener_(loop.io()),
        pause_(loop.io()) {}

  void Open(core::UniqueFd fd) {
    const std::lock_guard lock(run_->mutex);
    boost::system::error_code error;
    listener_.assign(tcp::v4(), fd.get(), error);
    if (error) return Note("the egress proxy could not be opened: " + error.message());
    (void)fd.Release();
    // A connection that has been reset again must not block accept.
    listener_.native_non_blocking(true, error);
    if (error) return Note("the egress proxy could not be opened: " + error.message());
    Wait();
  }

  void Serve(core::UniqueFd fd) {
    const std::lock_guard lock(run_->mutex);
    if (run_->closed || !Admit()) return;
    const int flags = fcntl(fd.get(), F_GETFL);
    if (flags < 0 || fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) != 0) return;
    Take(std::move(fd));
  }

  EgressRecord Close() {
    const std::lock_guard lock(run_->mutex);
    run_->closed = true;
    Shut();
    run_->when_one_ends = nullptr;
    for (const std::shared_ptr<ProxyConnection>& connection : run_->connections)
      connection->Close();
    run_->connections.clear();
    return {std::exchange(run_->events, {}), std::exchange(run_->left_out, 0)};
  }

 private:
  void Shut() {
    boost::system::error_code ignored;
    listener_.close(ignored);
    pause_.cancel();
  }

  void Wait() {
    listener_.async_wait(tcp::acceptor::wait_read,
                         [self = shared_from_this()](boost::system::error_code error) {
                           const std::lock_guard lock(self->run_->mutex);
                           if (!error && self->listener_.is_open()) self->AcceptAll();
                         });
  }

  void AcceptAll() {
    for (;;) {
      if (run_->connections.size() >= run_->rules->bounds.concurrent + kMaxPending) {
        // Further connections wait in the kernel's queue, where they cost this process no
        // descriptor.
        run_->when_one_ends = [self = shared_from_this()] { self->Wait(); };
        return;
      }
      core::UniqueFd fd(
          accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!fd) {
        if (errno == EAGAIN || errno == EWOULDBLOCK) return Wait();
        if (core::IsExhaustion(errno)) return Pause();
      }
      if (!Admit()) return Shut();
      // Without a descriptor, the connection was reset while it waited. It still counts, so that
      // this is bounded.
      if (fd) Take(std::move(fd));
    }
  }

  // Counts one more connection. False if there have been too many, which is recorded once.
  bool Admit() {
    const size_t max = run_->rules->bounds.connections;
    if (accepted_ < max) {
      ++accepted_;
      return true;
    }
    if (!std::exchange(noted_, true)) {
      Note("the egress proxy is closed: more than " + std::to_string(max) +
           " connections in one run");
    }
    return false;
  }

  void Take(core::UniqueFd fd) {
    const int on = 1;  // fails on a socket that is not TCP, where it is not needed
    (void)setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    tcp::socket socket(loop_.io());
    boost::system::error_code error;
    socket.assign(tcp::v4(), fd.get(), error);
    if (error) return;
    (void)fd.Release();
    auto connection =
        std::make_shared<ProxyConnection>(loop_.io(), run_, loop_.resolver(), std::move(socket));
    run_->connections.insert(connection);
    connection->Start();
  }

  void Pause() {
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([self = shared_from_this()](boost::system::error_code error) {
      const std::lock_guard lock(self->run_->mutex);
      if (!error && self->listener_.is_open()) self->AcceptAll();
    });
  }

  void Note(std::string what) {
    host::NetworkEvent event;
    event.detail = std::move(what);
    event.started = run_->SinceStart();
    (void)run_->Record(std::move(event));
  }

  EgressService::Loop& loop_;
  const std::shared_ptr<RunNetwork> run_;
  tcp::acceptor listener_;
  asio::steady_timer pause_;
  size_t accepted_ = 0;
  bool noted_ = false;  // that there were too many
};

EgressProxy::EgressProxy(EgressService& service, core::UniqueFd listener,
                         std::optional<AllowList> narrower)
    : reception_(std::make_shared<Reception>(*service.loop_, service.rules_, std::move(narrower))) {
  reception_->Open(std::move(listener));
}

EgressProxy::EgressProxy(EgressService& service, std::optional<AllowList> narrower)
    : reception_(std::make_shared<Reception>(*service.loop_, service.rules_, std::move(narrower))) {
}

void EgressProxy::Serve(core::UniqueFd connection) { reception_->Serve(std::move(connection)); }

EgressProxy::~EgressProxy() { (void)Close(); }

EgressRecord EgressProxy::Close() { return reception_->Close(); }

}  // namespace belljar::egress
