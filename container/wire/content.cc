#include "container/wire/content.h"

#include <algorithm>

namespace belljar::container::wire {

void Content::Announce(std::string* to, uint64_t size) {
  if (size == 0) return;
  places_.push_back({to, size});
  left_ += size;
}

bool Content::Take(std::string_view bytes) {
  if (bytes.size() > left_) return false;
  left_ -= bytes.size();
  while (!bytes.empty()) {
    Place& place = places_[next_];
    const size_t here = static_cast<size_t>(std::min<uint64_t>(place.left, bytes.size()));
    place.to->append(bytes.substr(0, here));
    bytes.remove_prefix(here);
    place.left -= here;
    if (place.left == 0) ++next_;
  }
  return true;
}

}  // namespace belljar::container::wire
