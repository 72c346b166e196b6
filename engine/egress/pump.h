// Pump: moves bytes from one socket to another, in one direction, as far as both let it without
// waiting. Knows nothing of who waits for them.
//
//   switch (pump.Move()) { case kWantsInput: wait for `from`, then Move again; … }
#ifndef BELLJAR_ENGINE_EGRESS_PUMP_H_
#define BELLJAR_ENGINE_EGRESS_PUMP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/egress/request_body.h"

namespace belljar::egress {

class Pump {
 public:
  enum class State {
    kWantsInput,
    kWantsOutput,
    kYields,      // it has moved a lot: others first
    kFinished,    // `from` has ended and all of it is passed on, the end included
    kOverBudget,  // there is more than may be moved
    kBroken,      // an error on one of them, or a malformed body
  };

  // The sockets are borrowed and do not block. `left`: bytes that may still be moved, by this pump
  // and others.
  Pump(int from, int to, uint64_t& left);

  // Before the first Move. Goes first, and is not counted.
  void Prepend(std::string_view bytes);
  // What has come before: counted, and through the body, if there is one.
  void Feed(std::string_view bytes);
  // Moves no more than this body. Its end is no end of `to`: the answer is still to come.
  void Limit(RequestBody body) { body_ = std::move(body); }

  State Move();
  uint64_t moved() const { return moved_; }

 private:
  bool Read();   // false: state_ says why there is nothing to write
  bool Write();  // false: state_ says why not all is written
  bool PassBody(std::string_view bytes);
  void Count(size_t size);
  State End();
  bool Stop(State state);

  const int from_;
  const int to_;
  uint64_t& left_;
  std::optional<RequestBody> body_;
  std::string held_;          // of a chunked body: read, and not yet understood
  std::vector<char> buffer_;  // grows where much comes at a time
  std::string unwritten_;     // through the body, or from the beginning
  std::string_view pending_;  // to be written: of buffer_ or of unwritten_
  bool ended_ = false;        // nothing more is read
  bool grow_ = false;         // the last read filled the buffer
  uint64_t moved_ = 0;
  State state_ = State::kYields;
};

}  // namespace belljar::egress

#endif  // BELLJAR_ENGINE_EGRESS_PUMP_H_
