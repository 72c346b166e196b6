// RequestBody: the body of a forwarded request; nothing after it is passed on. A chunked body is
// decoded and encoded again, without extensions and trailers.
#ifndef BELLJAR_ENGINE_EGRESS_REQUEST_BODY_H_
#define BELLJAR_ENGINE_EGRESS_REQUEST_BODY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/http1/request_reader.h"

namespace belljar::egress {

class RequestBody {
 public:
  enum class State { kMore, kDone, kMalformed };

  // With a Content-Length; 0: none.
  explicit RequestBody(uint64_t length);
  // `reader` has read the head of a chunked request.
  explicit RequestBody(std::unique_ptr<http1::RequestReader> reader);

  State state() const { return state_; }

  // Appends what is to be sent to `out`; returns how many bytes were consumed from the front. The
  // rest must be passed again, followed by what arrives next.
  size_t Take(std::string_view input, std::string& out);

 private:
  size_t TakeChunks(std::string_view input, std::string& out);

  State state_ = State::kMore;
  uint64_t left_ = 0;
  std::unique_ptr<http1::RequestReader> chunks_;  // null: a Content-Length
};

}  // namespace belljar::egress

#endif  // BELLJAR_ENGINE_EGRESS_REQUEST_BODY_H_
