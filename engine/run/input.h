// Live input: a program whose request has the function kAsksInput asks for each line of its
// standard input when it reads it. While a person thinks, the program's clock stands still
// (execution.h).
//
//   request.functions.emplace_back(host::kAsksInput);
//   options.call = AnsweringInput([&](const InputQuestion& question) { … return line; });
#ifndef BELLJAR_ENGINE_RUN_INPUT_H_
#define BELLJAR_ENGINE_RUN_INPUT_H_

#include <functional>
#include <string>
#include <string_view>

#include "engine/run/run_options.h"

namespace belljar::run {

struct InputQuestion {
  // What the program has written before it, on the same line. It is the program's, but safe to
  // display, and at most about 1,000 bytes.
  std::string prompt;
  bool is_hidden = false;  // for getpass(): what is typed should not be seen
};

struct InputAnswer {
  enum class Kind {
    kLine,
    kEnd,   // of the input; it is not asked for again
    kNone,  // the run is being cancelled; a cell gets a KeyboardInterrupt
  };
  Kind kind = Kind::kEnd;
  std::string line;  // with its line end
};

// On the thread that called Run.
using AskForInput = std::function<InputAnswer(const InputQuestion&)>;

// Every byte of `arguments` is hostile.
InputQuestion ReadQuestion(std::string_view arguments);

// Answers what a program asks; calls of other functions go to `others`, if there are any.
FunctionCall AnsweringInput(AskForInput ask, FunctionCall others = {});

}  // namespace belljar::run

#endif  // BELLJAR_ENGINE_RUN_INPUT_H_
