// mcp_fuzz: lines of a client, over stdio in pieces, and each line again as the body of an HTTP
// request whose headers say what the message says.
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/fd.h"
#include "server/stdio/stdio_transport.h"
#include "tests/fuzz/invariant.h"
#include "tests/fuzz/witness.h"

namespace belljar::tests {
namespace {

using Json = nlohmann::json;

// A queue of packets has room for ten.
constexpr size_t kMaxPieces = 8;
constexpr char kVersionKey[] = "io.modelcontextprotocol/protocolVersion";

struct Pipe {
  explicit Pipe(int type) {
    int ends[2];
    Require(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) == 0, "no socket");
    mine = core::UniqueFd(ends[0]);
    theirs = core::UniqueFd(ends[1]);
  }
  core::UniqueFd mine, theirs;
};

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") != line.npos) lines.push_back(std::move(line));
  }
  return lines;
}

// Calls end in the order that their threads have.
std::vector<std::string> Sorted(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string ReadToEnd(int fd) {
  std::string text;
  char buffer[16 << 10];
  for (ssize_t got; (got = read(fd, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(got));
  }
  return text;
}

// --- stdio --------------------------------------------------------------------------------------

void OverStdio(const std::vector<std::string>& pieces) {
  // One packet is what one read gets.
  Pipe input(SOCK_SEQPACKET);
  std::string stream;
  for (const std::string& piece : pieces) {
    stream += piece;
    Require(send(input.mine.get(), piece.data(), piece.size(), 0) > 0, "the packet is too long");
  }
  input.mine.Reset();
  core::UniqueFd output(memfd_create("answers", MFD_CLOEXEC)), stop(eventfd(0, EFD_CLOEXEC));
  std::vector<Exchanged> exchanges;
  {
    server::stdio::StdioTransport transport(input.theirs.get(), output.get(), ServiceUnderTest());
    const core::Result<server::stdio::StdioTransport::End> end = transport.Run(stop.get());
    Require(end && *end == server::stdio::StdioTransport::End::kPeer,
            "did not end with its client");
    exchanges = ServiceUnderTest().Finished();
  }
  std::vector<std::string> messages, texts;
  for (const Exchanged& exchanged : exchanges) {
    messages.push_back(exchanged.text);
    for (std::string& text : exchanged.Texts()) texts.push_back(std::move(text));
  }
  Require(Sorted(messages) == Sorted(Lines(stream)), "the messages are not the lines");
  lseek(output.get(), 0, SEEK_SET);
  const std::string written = ReadToEnd(output.get());
  Require(Sorted(Lines(written)) == Sorted(texts), "what was written is not what was said",
          written);
}

// --- HTTP ---------------------------------------------------------------------------------------

// Nobody listens: the witness does.
struct Nowhere final : server::Reply {
  void Notify(std::string) override {}
  void Finish(server::Answer) override {}
};

std::optional<std::string> TextAt(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_string()) return {};
  return object[key].get<std::string>();
}

void OverHttp(const std::string& line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return;
  const Json params = json.value("params", Json());
  server::IncomingMessage message;
  message.text = line;
  message.headers.emplace();
  message.headers->method = TextAt(json, "method");
  message.headers->name = TextAt(params, "name");
  const Json meta = params.is_object() ? params.value("_meta", Json()) : Json();
  message.headers->protocol_version = TextAt(meta, kVersionKey);
  ServiceUnderTest().Handle(std::move(message), std::make_shared<Nowhere>());
}

void Try(std::string_view input) {
  std::vector<std::string> pieces = Cut(input);
  while (pieces.size() > kMaxPieces) {
    const std::string last = std::move(pieces.back());
    pieces.pop_back();
    pieces.back() += last;
  }
  OverStdio(pieces);
  for (const std::string& piece : pieces) {
    for (const std::string& line : Lines(piece)) OverHttp(line);
  }
  ServiceUnderTest().Finished();
}

}  // namespace
}  // namespace belljar::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  belljar::tests::Try({reinterpret_cast<const char*>(data), size});
  return 0;
}
