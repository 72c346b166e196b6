// ProxyConnection: one connection of a guest to the egress proxy, from its first byte to its end.
//
//   kReading ──▶ kResolving ──▶ kConnecting ──▶ kRelaying ──▶ closed
//      └────────────┴───────────────┴─ refused ──▶ kLingering ──▶ closed
//
// Every byte from the guest is hostile. It lives as long as its RunNetwork holds it. All entry
// points run under that object's mutex, on the service's thread, except Close.
#ifndef BELLJAR_ENGINE_EGRESS_PROXY_CONNECTION_H_
#define BELLJAR_ENGINE_EGRESS_PROXY_CONNECTION_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/egress/http_proxy_request.h"
#include "engine/egress/pump.h"
#include "engine/egress/resolver.h"
#include "engine/egress/run_network.h"
#include "engine/egress/socks5.h"
#include "engine/http1/request_reader.h"

namespace belljar::egress {

class ProxyConnection : public std::enable_shared_from_this<ProxyConnection> {
 public:
  using Clock = RunNetwork::Clock;
  using Socket = boost::asio::ip::tcp::socket;

  // `guest` is non-blocking. `resolver` outlives the service's thread.
  ProxyConnection(boost::asio::io_context& io, std::shared_ptr<RunNetwork> run, Resolver& resolver,
                  Socket guest);

  void Start();
  // Closes it in any state and completes its event. The caller removes it from the run's
  // connections.
  void Close();

 private:
  enum class State { kReading, kResolving, kConnecting, kRelaying, kLingering, kClosed };
  enum class Protocol { kUnknown, kHttp, kConnect, kSocks5 };

  // Why a guest's request is refused, in both protocols.
  struct Denial {
    unsigned status = 403;
    Socks5Code code = Socks5Code::kNotAllowed;
    std::string text;       // printable ASCII
    std::string only = {};  // for the record, not for the program, which may repeat it
  };

  // One direction of the relay.
  struct Way {
    Way(int from, int to, uint64_t& left) : pump(from, to, left) {}
    Pump pump;
    bool finished = false;
  };

  template <typename Handler>
  auto Locked(Handler handler);
  void Finish();  // Close, and remove it from the run's connections

  void ReadRequest();
  void OnInput();
  void TakeHttp();
  void TakeSocks5();
  void Handle(const std::string& host, uint16_t port);
  std::optional<Denial> Check(const HostName& host, uint16_t port) const;
  void Resolve(const HostName& host);
  void OnAddresses(const Addresses& addresses);
  void ConnectNext();
  void OnConnected(boost::system::error_code error);
  Denial Unreachable(boost::system::error_code error) const;

  void StartRelay();
  void Move(Way& way, Socket& from, Socket& to);
  void Advance(Way& way);

  void Refuse(const Denial& denial);
  void Reject(Protocol protocol, std::string_view answer, std::string detail);
  void Answer(std::string_view bytes);
  void Linger();
  void SetDeadline(Clock::time_point deadline);
  void Arm();
  void OnTimer();
  void OnDeadline();
  void Describe(const std::string& detail);

  boost::asio::io_context& io_;
  const std::shared_ptr<RunNetwork> run_;
  Resolver& resolver_;
  Socket guest_;
  Socket target_;
  boost::asio::steady_timer timer_;

  State state_ = State::kReading;
  Clock::time_point deadline_;
  Clock::time_point armed_ = Clock::time_point::max();  // when timer_ expires
  const std::chrono::microseconds started_;

  Protocol protocol_ = Protocol::kUnknown;
  bool is_reading_ = false;
  std::string input_;  // read, but not yet parsed
  std::unique_ptr<http1::RequestReader> http_;
  Socks5Reader socks5_;
  HttpProxyRequest forward_;  // for kHttp
  std::string name_;          // of the target: "example.org:443"
  uint16_t port_ = 0;
  bool holds_slot_ = false;                                 // counts in RunNetwork::concurrent
  std::vector<boost::asio::ip::tcp::endpoint> candidates_;  // checked, in the order to try them
  size_t next_candidate_ = 0;
  boost::system::error_code last_error_;

  std::optional<Way> upward_;  // to the target
  std::optional<Way> downward_;
  size_t discarded_ = 0;  // in kLingering

  RunNetwork::EventIndex event_;
};

}  // namespace belljar::egress

#endif  // BELLJAR_ENGINE_EGRESS_PROXY_CONNECTION_H_
