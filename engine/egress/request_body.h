// RequestBody: the body of a forwarded request, so far as it goes: what comes behind it is not
// passed on. A chunked one is taken apart and put together anew, without extensions and trailers.
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

  // Appends to `out` what goes on; returns how much of the front was used up. The rest must come
  // again, before what arrives next.
  size_t Take(std::string_view input, std::string& out);

 private:
  size_t TakeChunks(std::string_view input, std::string& out);

  State state_ = State::kMore;
  uint64_t left_ = 0;
  std::unique_ptr<http1::RequestReader> chunks_;  // null: a Content-Length
};

}  // namespace belljar::egress

#endif  // BELLJAR_ENGINE_EGRESS_REQUEST_BODY_H_
