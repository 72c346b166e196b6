// RequestReader: parses one HTTP/1 request from a stream of bytes. Strict where servers and proxies
// are known to disagree (request smuggling): one line ending, no folded lines, one length. Knows no
// socket; one thread.
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

// The answer to a request that is not handled.
struct Refusal {
  unsigned status = 400;
  std::string
      message;  // what to do, for readers of the client's log; never contains bytes of the client
  std::string headers;  // complete lines, each with its CRLF
};

class RequestReader {
 public:
  enum class Stage { kHead, kHeadRead, kBody, kDone, kFailed };

  explicit RequestReader(size_t max_head);

  Stage stage() const { return stage_; }
  // Prepares for the next request of the stream.
  void Restart();

  // Returns how many bytes were consumed from the front. The rest must be passed again, followed by
  // what arrives next. 0 in stages other than kHead and kBody.
  size_t Take(std::string_view input);

  // From kHeadRead on, until the body is taken: trailers of a chunked body may add fields.
  const boost::beast::http::request_header<>& head() const { return parser_->get().base(); }
  bool keep_alive() const { return parser_->keep_alive(); }
  bool chunked() const { return parser_->chunked(); }
  std::optional<uint64_t> content_length() const;
  bool has_body() const { return chunked() || content_length().value_or(0) > 0; }

  // In kHeadRead: continues with kBody, or with kDone if there is no body.
  void ReadBody(uint64_t max_body);

  // From kHeadRead on: the body so far; complete in kDone.
  std::string& body() { return parser_->get().body(); }
  // In kFailed. The stream is out of sync: nothing more can be read from it.
  const Refusal& failure() const { return failure_; }

 private:
  size_t TakeHead(std::string_view input);
  size_t TakeBody(std::string_view input);
  void Fail(unsigned status, std::string message);

  size_t max_head_;
  Stage stage_ = Stage::kHead;
  size_t scanned_ = 0;  // of the head: bytes whose line endings have been checked
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  Refusal failure_;
};

}  // namespace belljar::http1

#endif  // BELLJAR_ENGINE_HTTP1_REQUEST_READER_H_
