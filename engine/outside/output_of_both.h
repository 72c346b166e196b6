// OutputOfBoth: the output of a program that was started over (start_plan.h), as if it had run
// once. Output that is the same is not shown again. If it differs (because it depends on the time),
// all of it is shown, after a note.
#ifndef BELLJAR_ENGINE_OUTSIDE_OUTPUT_OF_BOTH_H_
#define BELLJAR_ENGINE_OUTSIDE_OUTPUT_OF_BOTH_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "engine/run/run_options.h"

namespace belljar::outside {

class OutputOfBoth {
 public:
  // Borrowed.
  explicit OutputOfBoth(const run::OutputSink& sink);
  OutputOfBoth(const OutputOfBoth&) = delete;

  // Used for both runs.
  const run::OutputSink& sink() const { return through_; }
  void StartOver() { is_second_ = true; }

 private:
  struct Stream {
    std::string shown;    // by the first run
    size_t repeated = 0;  // bytes of it repeated by the second
    bool differs = false;
  };
  void Show(Stream& stream, const std::function<void(std::string_view)>& show,
            std::string_view bytes);

  const run::OutputSink& sink_;
  run::OutputSink through_;
  Stream stdout_, stderr_;
  bool is_second_ = false;
  bool has_said_so_ = false;
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_OUTPUT_OF_BOTH_H_
