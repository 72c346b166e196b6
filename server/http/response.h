// Response: encodes the response to one request. It is a single JSON text, or a stream of
// server-sent events if a notification comes before the answer. Independent of sockets;
// single-threaded.
//
//   Response response(manner);
//   Send(response.Notification(text)); …  Send(response.Finish(answer));
#ifndef BELLJAR_SERVER_HTTP_RESPONSE_H_
#define BELLJAR_SERVER_HTTP_RESPONSE_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/http1/request_reader.h"
#include "server/core/exchange.h"
#include "server/core/web.h"

namespace belljar::server::http {

// Pieces to send in this order with one system call; large texts are moved, not copied.
using Pieces = std::vector<std::string>;

// The text as a server-sent event; long texts are not copied. Line breaks would end the event; in
// JSON they can only occur as whitespace, so they are replaced.
Pieces MessageEvent(std::string text);
// {"jsonrpc":"2.0","id":null,"error":…}: an error that occurred before a message was parsed.
std::string ErrorBody(std::string_view message);
// The time in the format of the Date header; formatted once per second. Single-threaded.
std::string_view HttpDate();

class Response {
 public:
  struct Manner {
    bool http_1_0 = false;
    bool keep_alive = true;
    bool head_only = false;  // response to HEAD: no body
    bool accepts_json = true;
    bool accepts_stream = true;
    std::string headers;  // additional complete header lines: CORS
    bool is_web = false;  // refusals are problem details (RFC 9457), not JSON-RPC errors
  };
  explicit Response(Manner manner) : manner_(std::move(manner)) {}

  // Complete responses. Not to be combined with the functions below.
  Pieces Refused(const http1::Refusal& refusal);
  // Empty `type`: no body and no Content-Type.
  Pieces Whole(unsigned status, std::string_view type, std::string body,
               std::string_view more_headers = {});

  // A stream whose pieces are not server-sent events by themselves: Begin, then Write, then End.
  Pieces Begin(const WebAnswer& head);
  Pieces Write(std::string piece) const;
  Pieces End() const;
  bool head_only() const { return manner_.head_only; }

  // Empty if the client accepts no stream.
  Pieces Notification(std::string text);
  Pieces Finish(Answer answer);

  // 0: nothing has been sent yet.
  unsigned status() const { return status_; }
  bool streaming() const { return streaming_; }
  // After the response is complete. An HTTP/1.0 stream ends with the connection.
  bool keep_alive() const { return manner_.keep_alive; }
  // Closes the connection after this response, whatever the client requested.
  void CloseAfter() { manner_.keep_alive = false; }

 private:
  std::string Head(unsigned status, std::string_view headers);
  // Adds a chunk (RFC 9112, 7.1); nothing if it is empty, since that would end the stream.
  void AddChunk(Pieces& pieces, Pieces chunk) const;
  void BeginStream(Pieces& pieces);

  Manner manner_;
  unsigned status_ = 0;
  bool streaming_ = false;
};

}  // namespace belljar::server::http

#endif  // BELLJAR_SERVER_HTTP_RESPONSE_H_
