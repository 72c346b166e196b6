#include "engine/outside/input_of_both.h"

#include <utility>

namespace belljar::outside {

std::string InputOfBoth::Answer(std::string_view name, std::string_view arguments) {
  if (is_second_ && repeated_ < given_.size()) {
    Given& same = given_[repeated_];
    if (same.question == arguments) {
      ++repeated_;
      return std::move(same.answer);
    }
    repeated_ = given_.size();
  }
  std::string answer = call_(name, arguments);
  if (!is_second_) given_.push_back({std::string(arguments), answer});
  return answer;
}

}  // namespace belljar::outside
