#include "engine/http1/request_reader.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>
#include <utility>

namespace belljar::http1 {
namespace {

namespace http = boost::beast::http;

// The maximum line length of a chunk size with its extensions and of a trailer.
constexpr size_t kMaxChunkLine = 16 << 10;

// Scans on from `at` to the end of the head. Returns the offset after its CRLFCRLF, or nullopt if
// it has not arrived. `bad`: a line has another ending, is folded, or contains a NUL.
std::optional<size_t> FindHeadEnd(std::string_view input, size_t& at, bool& bad) {
  for (; at < input.size(); ++at) {
    const char c = input[at];
    if (c != '\r' && c != '\n' && c != '\0') [[likely]]
      continue;
    if (c != '\r') {
      bad = true;
      return std::nullopt;
    }
    // Wait until the byte after the line has arrived.
    if (at + 1 < input.size() && input[at + 1] != '\n') {
      bad = true;
      return std::nullopt;
    }
    if (at + 2 >= input.size()) return std::nullopt;
    if (input[at + 2] == ' ' || input[at + 2] == '\t') {
      bad = true;
      return std::nullopt;
    }
    if (input[at + 2] == '\r') {
      if (at + 3 >= input.size()) return std::nullopt;
      if (input[at + 3] == '\n') return at + 4;
      bad = true;
      return std::nullopt;
    }
    ++at;
  }
  return std::nullopt;
}

}  // namespace

RequestReader::RequestReader(size_t max_head) : max_head_(max_head) {}

void RequestReader::Restart() {
  stage_ = Stage::kHead;
  scanned_ = 0;
  parser_.reset();
}

std::optional<uint64_t> RequestReader::content_length() const {
  auto length = parser_->content_length();
  if (!length) return std::nullopt;
  return *length;
}

size_t RequestReader::Take(std::string_view input) {
  switch (stage_) {
    case Stage::kHead: return TakeHead(input);
    case Stage::kBody: return TakeBody(input);
    default: return 0;
  }
}

size_t RequestReader::TakeHead(std::string_view input) {
  // RFC 9112, 2.2: ignore an empty line before the request line.
  size_t skipped = 0;
  if (scanned_ == 0) {
    while (input.substr(skipped).starts_with("\r\n")) skipped += 2;
    input.remove_prefix(skipped);
  }
  bool bad = false;
  std::optional<size_t> end = FindHeadEnd(input, scanned_, bad);
  if (bad) {
    Fail(400, "the request has a malformed header line: end each with CRLF and fold none");
    return skipped;
  }
  if (end.value_or(input.size()) > max_head_) {
    Fail(431, "the request line and headers are longer than this server accepts: send fewer");
    return skipped;
  }
  if (!end) return skipped;

  parser_.emplace();
  // ReadBody checks lengths, once the client is known. (In Boost 1.74, boost::none is a limit of
  // zero here.)
  parser_->body_limit(std::numeric_limits<uint64_t>::max());
  parser_->header_limit(std::numeric_limits<uint32_t>::max());
  boost::beast::error_code error;
  size_t used = parser_->put(boost::asio::buffer(input.data(), *end), error);
  if ((error && error != http::error::need_more) || !parser_->is_header_done() || used != *end) {
    Fail(400, "the request is not well-formed HTTP/1.1: check its request line and headers");
    return skipped;
  }
  stage_ = Stage::kHeadRead;
  return skipped + used;
}

void RequestReader::ReadBody(uint64_t max_body) {
  parser_->body_limit(max_body);
  if (content_length().value_or(0) > max_body) {
    Fail(413, "the body is longer than this server accepts: send less");
    return;
  }
  parser_->eager(true);
  stage_ = parser_->is_done() ? Stage::kDone : Stage::kBody;
}

size_t RequestReader::TakeBody(std::string_view input) {
  // Beast 1.74 asserts that five bytes are available when it looks at a last chunk again. Fewer
  // than "0\r\n\r\n" never end a chunked body.
  if (input.empty() || (chunked() && input.size() < 5)) return 0;
  boost::beast::error_code error;
  size_t used = parser_->put(boost::asio::buffer(input.data(), input.size()), error);
  if (error == http::error::body_limit || error == http::error::buffer_overflow) {
    Fail(413, "the body is longer than this server accepts: send less");
  } else if (error && error != http::error::need_more) {
    Fail(400,
         "the body is not a well-formed chunked body: each chunk is its size in hexadecimal, "
         "CRLF, so many bytes, CRLF");
  } else if (parser_->is_done()) {
    stage_ = Stage::kDone;
  } else if (input.size() - used > kMaxChunkLine) {
    Fail(400, "the chunked body has a line that is too long: send no chunk extensions");
  }
  return used;
}

void RequestReader::Fail(unsigned status, std::string message) {
  stage_ = Stage::kFailed;
  failure_ = {status, std::move(message), ""};
}

}  // namespace belljar::http1
