// InputOfBoth: what a person answered to a program that was started over (start_plan.h), who is not
// asked again: as long as it asks the same, it gets the same answers.
#ifndef BELLJAR_ENGINE_OUTSIDE_INPUT_OF_BOTH_H_
#define BELLJAR_ENGINE_OUTSIDE_INPUT_OF_BOTH_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/run/run_options.h"

namespace belljar::outside {

class InputOfBoth {
 public:
  // Borrowed.
  explicit InputOfBoth(const run::FunctionCall& call) : call_(call) {}
  InputOfBoth(const InputOfBoth&) = delete;

  // For both runs; borrows this object.
  run::FunctionCall call() {
    return [this](std::string_view name, std::string_view arguments) {
      return Answer(name, arguments);
    };
  }
  void StartOver() { is_second_ = true; }

 private:
  struct Given {
    std::string question;
    std::string answer;
  };
  std::string Answer(std::string_view name, std::string_view arguments);

  const run::FunctionCall& call_;
  std::vector<Given> given_;  // in the first run
  size_t repeated_ = 0;       // of them, in the second
  bool is_second_ = false;
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_INPUT_OF_BOTH_H_
