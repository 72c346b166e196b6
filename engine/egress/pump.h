// Pump: moves bytes from one socket to another, in one direction, as far as possible without
// blocking. The caller does the waiting.
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
    kYields,      // it has moved a lot: serve others first
    kFinished,    // `from` has ended, and everything including the end was passed on
    kOverBudget,  // more data than may be moved
    kBroken,      // an error on one of the sockets, or a malformed body
  };

  // The sockets are borrowed and non-blocking. `left`: bytes that may still be moved, shared with
  // other pumps.
  Pump(int from, int to, uint64_t& left);

  // Before the first Move. Sent first, and not counted.
  void Prepend(std::string_view bytes);
  // Data received earlier: counted, and part of the body, if there is one.
  void Feed(std::string_view bytes);
  // Moves only this body. `to` is not shut down at its end: the response is still to come.
  void Limit(RequestBody body) { body_ = std::move(body); }

  State Move();
  uint64_t moved() const { return moved_; }

 private:
  bool Read();   // false: nothing to write, see state_
  bool Write();  // false: not everything was written, see state_
  bool PassBody(std::string_view bytes);
  void Count(size_t size);
  State End();
  bool Stop(State state);

  const int from_;
  const int to_;
  uint64_t& left_;
  std::optional<RequestBody> body_;
  std::string held_;          // chunked body: read, but not yet parsed
  std::vector<char> buffer_;  // grows with the amount of data
  std::string unwritten_;     // body output, or prepended bytes
  std::string_view pending_;  // to be written; part of buffer_ or unwritten_
  bool ended_ = false;        // nothing more will be read
  bool grow_ = false;         // the last read filled the buffer
  uint64_t moved_ = 0;
  State state_ = State::kYields;
};

}  // namespace belljar::egress

#endif  // BELLJAR_ENGINE_EGRESS_PUMP_H_
