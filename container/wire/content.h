// Content: the bytes that a request or an outcome has announced, into the strings that they are
// for.
#ifndef BELLJAR_CONTAINER_WIRE_CONTENT_H_
#define BELLJAR_CONTAINER_WIRE_CONTENT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace belljar::container::wire {

class Content {
 public:
  // `to`, borrowed, will hold `size` bytes; in the order of the calls. Nothing is kept for them
  // yet.
  void Announce(std::string* to, uint64_t size);

  uint64_t left() const { return left_; }
  // False, with nothing taken: more than was announced.
  bool Take(std::string_view bytes);

 private:
  struct Place {
    std::string* to = nullptr;
    uint64_t left = 0;
  };
  std::vector<Place> places_;
  size_t next_ = 0;
  uint64_t left_ = 0;
};

}  // namespace belljar::container::wire

#endif  // BELLJAR_CONTAINER_WIRE_CONTENT_H_
