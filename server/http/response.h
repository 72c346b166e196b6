// Response: what one request is answered with, as bytes. Decides between one JSON text and a stream
// of server-sent events: a notification before the answer makes it a stream. Knows no socket; one
// thread.
//
//   Response response(manner);
//   Send(response.Notification(text)); …  Send(response.Finish(answer));
#ifndef BELLJAR_SERVER_HTTP_RESPONSE_H_
#define BELLJAR_SERVER_HTTP_RESPONSE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/http1/request_reader.h"
#include "server/core/exchange.h"

namespace belljar::server::http {

// Pieces to be sent in this order, by one system call: large texts are moved into it, not copied.
using Pieces = std::vector<std::string>;

// The text as an event of a stream, long ones uncopied. Line ends in it would end the event; in a
// JSON text they can only stand where a space can.
Pieces MessageEvent(std::string text);
// {"jsonrpc":"2.0","id":null,"error":…}: what went wrong before there was a message.
std::string ErrorBody(std::string_view message);
// The time as the Date header has it; made once a second. One thread.
std::string_view HttpDate();

class Response {
 public:
  struct Manner {
    bool http_1_0 = false;
    bool keep_alive = true;
    bool head_only = false;  // to a HEAD request: no body
    bool accepts_json = true;
    bool accepts_stream = true;
    std::string headers;  // whole lines to send with it: CORS
  };
  explicit Response(Manner manner) : manner_(std::move(manner)) {}

  // Whole answers, each instead of all that follows.
  Pieces Refused(const http1::Refusal& refusal);
  // `type` empty: there is no body and none is announced.
  Pieces Whole(unsigned status, std::string_view type, std::string body,
               std::string_view more_headers = {});

  // Empty where the client takes no stream.
  Pieces Notification(std::string text);
  Pieces Finish(Answer answer);

  // 0: nothing was sent yet.
  unsigned status() const { return status_; }
  bool streaming() const { return streaming_; }
  // Once all is sent. What HTTP/1.0 is streamed ends with the connection.
  bool keep_alive() const { return manner_.keep_alive; }
  // The connection ends with this response, whatever the client asked for.
  void CloseAfter() { manner_.keep_alive = false; }

 private:
  std::string Head(unsigned status, std::string_view headers);
  void AddEvent(Pieces& pieces, std::string text) const;
  void BeginStream(Pieces& pieces);

  Manner manner_;
  unsigned status_ = 0;
  bool streaming_ = false;
};

}  // namespace belljar::server::http

#endif  // BELLJAR_SERVER_HTTP_RESPONSE_H_
