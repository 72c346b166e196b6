// http_fuzz: the bytes of one client's connection, in pieces, through the real connection to the
// real service.
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/fd.h"
#include "engine/http1/request_reader.h"
#include "server/http/connection.h"
#include "server/http/service.h"
#include "tests/fuzz/framing.h"
#include "tests/fuzz/invariant.h"
#include "tests/fuzz/witness.h"

namespace belljar::tests {
namespace {

namespace http = boost::beast::http;
using Stage = http1::RequestReader::Stage;

constexpr size_t kMaxHead = 2048;
constexpr size_t kMaxBody = 4096;
// 32 characters: the shortest that a token may have.
constexpr char kSecret[] = "0123456789abcdef0123456789abcdef";

// --- the reader alone: where the stream is cut changes nothing ----------------------------------

struct Reading {
  std::vector<std::string> bodies;
  unsigned failure = 0;  // 0: it waits for more
};

// A malformed end of the stream may be seen with what comes next only.
bool IsSame(const Reading& a, const Reading& b) {
  return a.bodies == b.bodies && (a.failure == b.failure || a.failure == 0 || b.failure == 0);
}

Reading ReadAll(const std::vector<std::string>& pieces) {
  Reading reading;
  http1::RequestReader reader(kMaxHead);
  std::string waiting;
  for (const std::string& piece : pieces) {
    waiting += piece;
    while (true) {
      const size_t used = reader.Take(waiting);
      Require(used <= waiting.size(), "took more than there was");
      waiting.erase(0, used);
      if (reader.stage() == Stage::kHeadRead) {
        reader.ReadBody(kMaxBody);
      } else if (reader.stage() == Stage::kDone) {
        Require(reader.body().size() <= kMaxBody, "a body past the limit");
        reading.bodies.push_back(reader.body());
        reader.Restart();
      } else if (reader.stage() == Stage::kFailed) {
        reading.failure = reader.failure().status;
        return reading;
      } else {
        break;
      }
    }
  }
  return reading;
}

// --- the whole connection -----------------------------------------------------------------------

// One request as the server enters it in its log, with the message that it carried.
struct Served {
  bool is_mcp = false;
  bool is_head = false;
  unsigned status = 0;
  bool streamed = false;
  bool delivered = false;
  std::vector<Exchanged> messages;
};

class Client {
 public:
  explicit Client(bool with_token) {
    int ends[2];
    Require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0,
            "no socket");
    mine_ = core::UniqueFd(ends[0]);
    server::HttpConfig config;
    config.max_header = core::Bytes{kMaxHead};
    config.max_body = core::Bytes{kMaxBody};
    server::http::HttpMonitoring monitoring;
    monitoring.access = [this](const server::http::HttpAccess& access) { Log(access); };
    std::vector<server::TokenConfig> tokens;
    if (with_token) tokens.push_back({kSecret, {}});
    service_ = std::make_shared<server::http::HttpService>(
        io_, config, server::http::HostRules("127.0.0.1", {"belljar.test"}, {"http://page.test"}),
        *server::http::Tokens::Make(tokens), ServiceUnderTest(), server::http::Router(),
        std::move(monitoring));
    boost::asio::ip::tcp::socket socket(io_);
    socket.assign(boost::asio::ip::tcp::v4(), ends[1]);
    service_->Add(std::move(socket), "fuzz");
  }

  ~Client() {
    service_->Close();
    Settle();
  }

  void Say(std::string_view piece) {
    if (send(mine_.get(), piece.data(), piece.size(), MSG_NOSIGNAL) < 0) return;
    Settle();
  }

  void SayNoMore() {
    shutdown(mine_.get(), SHUT_WR);
    Settle();
    Require(service_->connections() == 0, "a connection outlives its client");
  }

  const std::vector<Served>& served() const { return served_; }
  const std::string& received() const { return received_; }

 private:
  void Log(const server::http::HttpAccess& access) {
    served_.push_back({access.path == "/mcp", access.method == "HEAD", access.status,
                       access.streamed, access.delivered, ServiceUnderTest().Finished()});
  }

  // Until nobody has anything to do.
  void Settle() {
    for (bool busy = true; busy;) {
      busy = ServiceUnderTest().waits();
      io_.restart();
      busy = io_.poll() > 0 || busy;
      busy = Receive() || busy;
    }
  }

  bool Receive() {
    char buffer[16 << 10];
    const ssize_t got = recv(mine_.get(), buffer, sizeof buffer, 0);
    if (got > 0) received_.append(buffer, static_cast<size_t>(got));
    return got > 0;
  }

  boost::asio::io_context io_;
  std::shared_ptr<server::http::HttpService> service_;
  core::UniqueFd mine_;
  std::string received_;
  std::vector<Served> served_;
};

// --- what was served, against what was sent -----------------------------------------------------

unsigned StatusFor(server::Answer::Kind kind) {
  switch (kind) {
    case server::Answer::Kind::kResult: return 200;
    case server::Answer::Kind::kAccepted:
    case server::Answer::Kind::kWithdrawn: return 202;
    case server::Answer::Kind::kBadRequest: return 400;
    case server::Answer::Kind::kUnknownMethod:
    case server::Answer::Kind::kUnknownConversation: return 404;
  }
  return 0;
}

void CheckServed(const std::vector<Served>& served, const std::vector<Frame>& frames) {
  Require(served.size() <= frames.size(), "more requests than were sent");
  for (size_t i = 0; i < served.size(); ++i) {
    const Served& one = served[i];
    const Frame& frame = frames[i];
    Require(frame.kind == Frame::Kind::kWhole || i + 1 == served.size(),
            "a request after one whose end is in doubt");
    Require(one.messages.size() <= 1, "one request, more than one message");
    if (one.messages.empty()) {
      Require(!one.is_mcp || one.status >= 400 || one.status == 204 || !one.delivered,
              "a message was answered that nobody handed over");
      continue;
    }
    const Exchanged& message = one.messages.front();
    Require(frame.kind == Frame::Kind::kWhole, "a message out of a doubtful request");
    Require(message.text == frame.body, "the message is not the body", message.text);
    const unsigned wanted = one.streamed ? 200 : StatusFor(message.answer.kind);
    Require(!one.delivered || one.status == wanted, "the status does not fit", message.answer.text);
  }
}

void CheckBody(const http::response<http::string_body>& response, const Served& served) {
  const std::string& body = response.body();
  if (served.is_head) return Require(body.empty(), "HEAD has a body");
  if (served.messages.empty()) {
    if (response[http::field::content_type] == "application/json") CheckLine(body);
    return;
  }
  const Exchanged& message = served.messages.front();
  std::string wanted;
  if (!served.streamed) wanted = message.answer.text;
  if (served.streamed) {
    for (const std::string& text : message.Texts()) {
      wanted += "event: message\ndata: " + text + "\n\n";
    }
  }
  Require(body == wanted, "another body than what was said", body);
}

// Every request has one response, in order; nothing else comes.
void CheckReceived(std::string_view received, const std::vector<Served>& served) {
  for (const Served& one : served) {
    if (!one.delivered) break;
    http::response<http::string_body> response;
    do {
      http::response_parser<http::string_body> parser;
      parser.eager(true);
      parser.body_limit(64 << 20);
      parser.skip(one.is_head);
      boost::beast::error_code error;
      const size_t used = parser.put(boost::asio::buffer(received.data(), received.size()), error);
      if (!error && !parser.is_done()) parser.put_eof(error);
      Require(!error && parser.is_done(), "not a whole response", received);
      received.remove_prefix(used);
      response = parser.release();
    } while (response.result_int() == 100);
    Require(response.result_int() == one.status, "another status than was logged");
    CheckBody(response, one);
  }
  const bool all = served.empty() || served.back().delivered;
  Require(received.empty() || !all || received.starts_with("HTTP/1.1 100 "), "more came", received);
}

void Try(std::string_view input) {
  const std::vector<std::string> pieces = Cut(input);
  std::string stream;
  for (const std::string& piece : pieces) stream += piece;
  Require(IsSame(ReadAll(pieces), ReadAll({stream})), "pieces are read otherwise than the whole");

  Client client(stream.find("uthorization") != stream.npos);
  for (const std::string& piece : pieces) client.Say(piece);
  client.SayNoMore();
  CheckServed(client.served(), ReadFrames(stream));
  CheckReceived(client.received(), client.served());
}

}  // namespace
}  // namespace belljar::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  belljar::tests::Try({reinterpret_cast<const char*>(data), size});
  return 0;
}
