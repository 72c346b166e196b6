// Content: distributes the bytes that a request or an outcome has announced to their strings.
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
  // `to` is borrowed and will receive `size` bytes, in the order of the calls. No memory is
  // reserved yet.
  void Announce(std::string* to, uint64_t size);

  uint64_t left() const { return left_; }
  // False, and nothing is taken, if there is more than was announced.
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
