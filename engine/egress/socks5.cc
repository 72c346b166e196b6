#include "engine/egress/socks5.h"

#include <algorithm>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>

namespace belljar::egress {
namespace {

namespace ip = boost::asio::ip;

constexpr char kNoAuthentication = 0;
constexpr char kNoMethod = static_cast<char>(0xff);
constexpr unsigned char kConnect = 1;
constexpr unsigned char kTypeV4 = 1;
constexpr unsigned char kTypeName = 3;
constexpr unsigned char kTypeV6 = 4;
constexpr size_t kFixedPart = 4;  // version, command, reserved, address type
constexpr size_t kPort = 2;

unsigned char Byte(std::string_view input, size_t at) {
  return static_cast<unsigned char>(input[at]);
}

template <typename Address>
std::string AddressText(std::string_view bytes) {
  typename Address::bytes_type raw;
  std::copy(bytes.begin(), bytes.end(), raw.begin());
  return Address(raw).to_string();
}

}  // namespace

std::string Socks5Reply(Socks5Code code) {
  // Bound address and port: 0.0.0.0:0. The real ones are not revealed.
  std::string reply(10, '\0');
  reply[0] = kSocks5Version;
  reply[1] = static_cast<char>(code);
  reply[3] = kTypeV4;
  return reply;
}

size_t Socks5Reader::Take(std::string_view input) {
  switch (stage_) {
    case Stage::kGreeting: return TakeGreeting(input);
    case Stage::kRequest: return TakeRequest(input);
    default: return 0;
  }
}

size_t Socks5Reader::TakeGreeting(std::string_view input) {
  if (input.size() < 2) return 0;
  const size_t size = 2 + Byte(input, 1);
  if (input.size() < size) return 0;
  const bool offered = input.substr(2, size - 2).find(kNoAuthentication) != input.npos;
  if (input[0] != kSocks5Version || !offered) {
    Fail({kSocks5Version, kNoMethod}, "SOCKS5 without the method \"no authentication\"");
    return size;
  }
  reply_ = {kSocks5Version, kNoAuthentication};
  stage_ = Stage::kRequest;
  return size;
}

size_t Socks5Reader::TakeRequest(std::string_view input) {
  if (input.size() < kFixedPart + 1) return 0;
  if (input[0] != kSocks5Version) {
    Fail(Socks5Reply(Socks5Code::kGeneralFailure), "a SOCKS5 request of another version");
    return 0;
  }
  if (Byte(input, 1) != kConnect) {
    Fail(Socks5Reply(Socks5Code::kCommandNotSupported), "a SOCKS5 command that is not CONNECT");
    return 0;
  }
  const unsigned char type = Byte(input, 3);
  size_t start = kFixedPart;
  size_t length = 0;
  if (type == kTypeV4) {
    length = 4;
  } else if (type == kTypeV6) {
    length = 16;
  } else if (type == kTypeName) {
    length = Byte(input, start++);
  } else {
    Fail(Socks5Reply(Socks5Code::kAddressTypeNotSupported), "an unknown type of address in SOCKS5");
    return 0;
  }
  const size_t size = start + length + kPort;
  if (input.size() < size) return 0;
  const std::string_view address = input.substr(start, length);
  host_ = type == kTypeV4   ? AddressText<ip::address_v4>(address)
          : type == kTypeV6 ? AddressText<ip::address_v6>(address)
                            : std::string(address);
  port_ = static_cast<uint16_t>(Byte(input, size - 2) << 8 | Byte(input, size - 1));
  stage_ = Stage::kDone;
  return size;
}

void Socks5Reader::Fail(std::string reply, std::string failure) {
  stage_ = Stage::kFailed;
  reply_ = std::move(reply);
  failure_ = std::move(failure);
}

}  // namespace belljar::egress
