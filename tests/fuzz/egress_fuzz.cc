// egress_fuzz: the bytes of one connection of a guest to the egress proxy, in pieces: what it is
// taken to ask for, and what of it would go on to a target.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/egress/allow_list.h"
#include "engine/egress/http_proxy_request.h"
#include "engine/egress/request_body.h"
#include "engine/egress/socks5.h"
#include "engine/http1/request_reader.h"
#include "tests/fuzz/framing.h"
#include "tests/fuzz/invariant.h"

namespace belljar::tests {
namespace {

constexpr size_t kMaxHead = 2048;

// What the egress proxy makes of a stream.
struct Taken {
  bool requested = false;  // for a host
  bool failed = false;     // malformed; otherwise it waits for more
  bool tunnel = false;
  std::string host;
  uint16_t port = 0;
  std::string forwarded;  // head and body, as the target gets them
  std::string replies;
};

// The same bytes, cut elsewhere: a malformed end may be seen with what comes next only.
bool IsSame(const Taken& a, const Taken& b) {
  return a.requested == b.requested && a.tunnel == b.tunnel && a.host == b.host &&
         a.port == b.port && a.replies == b.replies;
}

class Stream {
 public:
  void Add(std::string_view piece) {
    input_ += piece;
    if (input_.empty() || taken_.failed) return;
    if (!is_socks_) is_socks_ = input_[0] == egress::kSocks5Version;
    *is_socks_ ? TakeSocks5() : TakeHttp();
  }

  const Taken& taken() const { return taken_; }

 private:
  void TakeSocks5() {
    for (size_t used = 1; used > 0;) {
      used = socks5_.Take(input_);
      Require(used <= input_.size(), "took more than there was");
      input_.erase(0, used);
      taken_.replies += socks5_.TakeReply();
    }
    taken_.failed = socks5_.stage() == egress::Socks5Reader::Stage::kFailed;
    taken_.requested = taken_.tunnel = socks5_.stage() == egress::Socks5Reader::Stage::kDone;
    taken_.host = socks5_.host();
    taken_.port = socks5_.port();
  }

  void TakeHttp() {
    if (body_) return TakeBody();
    const size_t used = http_->Take(input_);
    Require(used <= input_.size(), "took more than there was");
    input_.erase(0, used);
    taken_.failed = http_->stage() == http1::RequestReader::Stage::kFailed;
    if (http_->stage() != http1::RequestReader::Stage::kHeadRead || taken_.requested) return;
    const std::variant<egress::HttpProxyRequest, egress::HttpRejection> read =
        egress::ReadHttpProxyRequest(http_->head());
    const auto* ask = std::get_if<egress::HttpProxyRequest>(&read);
    if (!ask) {
      taken_.failed = true;
      return;
    }
    taken_.requested = true;
    taken_.tunnel = ask->tunnel;
    taken_.host = ask->host;
    taken_.port = ask->port;
    taken_.forwarded = ask->head;
    if (ask->tunnel || ask->head.empty()) return;
    body_.emplace(ask->chunked ? egress::RequestBody(std::move(http_))
                               : egress::RequestBody(ask->length));
    TakeBody();
  }

  void TakeBody() {
    for (size_t used = 1; used > 0 && !input_.empty();) {
      used = body_->Take(input_, taken_.forwarded);
      Require(used <= input_.size(), "took more than there was");
      input_.erase(0, used);
    }
    taken_.failed = body_->state() == egress::RequestBody::State::kMalformed;
  }

  std::string input_;
  std::optional<bool> is_socks_;
  egress::Socks5Reader socks5_;
  std::unique_ptr<http1::RequestReader> http_ = std::make_unique<http1::RequestReader>(kMaxHead);
  std::optional<egress::RequestBody> body_;
  Taken taken_;
};

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// Whatever the guest wrote, the target reads one request, for the host that was judged.
void CheckForwarded(const Taken& taken) {
  const std::string& text = taken.forwarded;
  const std::vector<Frame> frames = ReadFrames(text);
  Require(frames.size() == 1, "not one request", text);
  Require(frames[0].kind != Frame::Kind::kDoubtful, "its end can be told in two ways", text);
  const std::optional<egress::HostName> host = egress::HostName::Parse(taken.host);
  Require(host.has_value(), "a host that is none", text);
  std::string authority = egress::Bracketed(*host);
  if (taken.port != 80) authority += ":" + std::to_string(taken.port);
  const std::string head = Lower(text.substr(0, text.find("\r\n\r\n") + 2));
  size_t hosts = 0;
  for (size_t at = head.find("\r\nhost:"); at != head.npos; at = head.find("\r\nhost:", at + 1)) {
    ++hosts;
    Require(head.substr(at + 2).starts_with("host: " + authority + "\r\n"), "another host", text);
  }
  Require(hosts == 1, "not one Host", text);
  Require(head.find("\r\nproxy-") == head.npos, "a header for the proxy goes on", text);
  Require(head.ends_with("\r\nconnection: close\r\n"), "the connection could go on", text);
}

void CheckName(const Taken& taken) {
  const std::optional<egress::HostName> host = egress::HostName::Parse(taken.host);
  if (!host) return;
  const std::optional<egress::HostName> again = egress::HostName::Parse(host->text);
  Require(again && again->text == host->text && again->address == host->address,
          "a name has two forms", taken.host);
  for (const char c : host->text) Require(c > ' ' && c < '\x7f', "not printable", taken.host);
  const core::Result<egress::HostPattern> pattern =
      egress::HostPattern::Parse(egress::Bracketed(*host));
  Require(pattern.ok() && pattern->Matches(*host), "a name does not match itself", taken.host);
}

void Try(std::string_view input) {
  Stream whole, pieces;
  for (const std::string& piece : Cut(input)) pieces.Add(piece);
  std::string all;
  for (const std::string& piece : Cut(input)) all += piece;
  whole.Add(all);
  Require(IsSame(whole.taken(), pieces.taken()), "pieces are taken otherwise than the whole");
  if (!whole.taken().requested) return;
  CheckName(whole.taken());
  for (const Stream* stream : {&whole, &pieces}) {
    if (!stream->taken().forwarded.empty()) CheckForwarded(stream->taken());
  }
}

}  // namespace
}  // namespace belljar::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  belljar::tests::Try({reinterpret_cast<const char*>(data), size});
  return 0;
}
