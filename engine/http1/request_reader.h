// RequestReader: one HTTP/1 request out of a stream of bytes. Strict where servers and the proxies
// before them are known to disagree (request smuggling): one line ending, no folded lines, one
// length. Knows no socket; one thread.
//
//   while (reader.stage() is kHead or kBody) input.consume(reader.Take(input));
//   stage kHeadRead:  look at head(), then ReadBody(limit) or stop
//   stage kDone:      body()
//   stage kFailed:    failure()
#ifndef BELLJAR_ENGINE_HTTP1_REQUEST_READER_H_
#define BELLJAR_ENGINE_HTTP1_REQUEST_READER_H_

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace belljar::http1 {

// What a request is answered with instead of being handled.
struct Refusal {
  unsigned status = 400;
  std::string message;  // what to do, for whoever reads the client's log; never a client's bytes
  std::string headers;  // whole lines, each with its CRLF
};

class RequestReader {
 public:
  enum class Stage { kHead, kHeadRead, kBody, kDone, kFailed };

  explicit RequestReader(size_t max_head);

  Stage stage() const { return stage_; }
  // For the next request of the stream.
  void Restart();

  // Returns how many bytes of the front were used up; the others must come again, before what
  // arrives next. 0 in stages other than kHead and kBody.
  size_t Take(std::string_view input);

  // From kHeadRead on, until the body is taken: trailers of a chunked body may add fields.
  const boost::beast::http::request_header<>& head() const { return parser_->get().base(); }
  bool keep_alive() const { return parser_->keep_alive(); }
  bool chunked() const { return parser_->chunked(); }
  std::optional<uint64_t> content_length() const;
  bool has_body() const { return chunked() || content_length().value_or(0) > 0; }

  // In kHeadRead: goes on to kBody, or to kDone where there is no body.
  void ReadBody(uint64_t max_body);

  // From kHeadRead on: what has come of it; whole in kDone.
  std::string& body() { return parser_->get().body(); }
  // In kFailed. The stream is then out of step: nothing more can be read from it.
  const Refusal& failure() const { return failure_; }

 private:
  size_t TakeHead(std::string_view input);
  size_t TakeBody(std::string_view input);
  void Fail(unsigned status, std::string message);

  size_t max_head_;
  Stage stage_ = Stage::kHead;
  size_t scanned_ = 0;  // of the head: bytes whose lines were found to be well ended
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  Refusal failure_;
};

}  // namespace belljar::http1

#endif  // BELLJAR_ENGINE_HTTP1_REQUEST_READER_H_
