// Socks5Reader: the server side of RFC 1928: no authentication, CONNECT only. Incremental; knows no
// socket.
//
//   reader.Take(input)            returns how many bytes were consumed from the front
//   reader.TakeReply()            what to send back now; often empty
//   stage kDone:                  host(), port(); then Socks5Reply(code)
//   stage kFailed:                send the reply, close
#ifndef BELLJAR_ENGINE_EGRESS_SOCKS5_H_
#define BELLJAR_ENGINE_EGRESS_SOCKS5_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace belljar::egress {

inline constexpr char kSocks5Version = 5;

enum class Socks5Code : unsigned char {
  kSucceeded = 0,
  kGeneralFailure = 1,
  kNotAllowed = 2,
  kNetworkUnreachable = 3,
  kHostUnreachable = 4,
  kConnectionRefused = 5,
  kTimedOut = 6,  // "TTL expired", as other servers use it
  kCommandNotSupported = 7,
  kAddressTypeNotSupported = 8,
};
std::string Socks5Reply(Socks5Code code);

class Socks5Reader {
 public:
  enum class Stage { kGreeting, kRequest, kDone, kFailed };

  Stage stage() const { return stage_; }
  size_t Take(std::string_view input);
  std::string TakeReply() { return std::exchange(reply_, {}); }

  // In kDone: as written by the guest, unchecked; an address in its canonical form.
  const std::string& host() const { return host_; }
  uint16_t port() const { return port_; }
  // In kFailed.
  const std::string& failure() const { return failure_; }

 private:
  size_t TakeGreeting(std::string_view input);
  size_t TakeRequest(std::string_view input);
  void Fail(std::string reply, std::string failure);

  Stage stage_ = Stage::kGreeting;
  std::string reply_;
  std::string host_;
  uint16_t port_ = 0;
  std::string failure_;
};

}  // namespace belljar::egress

#endif  // BELLJAR_ENGINE_EGRESS_SOCKS5_H_
