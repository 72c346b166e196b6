// Framing: where HTTP/1 requests of a stream begin and end, read a second time and in the simplest
// way that RFC 9112 allows. What the server takes as one request has to be one here too, or a proxy
// before it and the server could be made to disagree (request smuggling).
#ifndef BELLJAR_TESTS_FUZZ_FRAMING_H_
#define BELLJAR_TESTS_FUZZ_FRAMING_H_

#include <string>
#include <string_view>
#include <vector>

namespace belljar::tests {

struct Frame {
  enum class Kind {
    kWhole,
    kUnfinished,  // the stream ends within it
    kDoubtful,    // where it ends could be told in two ways, or not at all: the stream ends here
  };
  Kind kind = Kind::kWhole;
  std::string body;  // of a whole one
};

// In order; the last one may be other than whole.
std::vector<Frame> ReadFrames(std::string_view stream);

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_FUZZ_FRAMING_H_
