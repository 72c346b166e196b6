// Question: what a session's host asks its worker between cells.
#ifndef BELLJAR_ENGINE_RUN_QUESTION_H_
#define BELLJAR_ENGINE_RUN_QUESTION_H_

#include <cstddef>
#include <optional>
#include <string>

namespace belljar::run {

// Answered by the session's worker without a cell: nothing is counted, and the state is meant to
// stay unchanged. A question that does not end is handled like a cell that is stopped.
struct Question {
  enum class Kind {
    kComplete,   // how `source` could continue at `cursor`
    kInspect,    // information on the name at `cursor`: signature, documentation
    kVariables,  // the names in the session
  };
  Kind kind = Kind::kVariables;
  std::string source;
  std::optional<size_t> cursor;  // in code points; nullopt: the end
};

}  // namespace belljar::run

#endif  // BELLJAR_ENGINE_RUN_QUESTION_H_
