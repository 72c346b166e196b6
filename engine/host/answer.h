// Answers: what a model gets of an outcome, as text and as a lean object. Both leave out what is
// usual, and cut what is long; the whole outcome is OutcomeToJson (outcome.h).
//
//   stdout:
//   hi
//
//   value:
//   42
//
// Nothing that a program chose can be taken for what Belljar says. In the text, only Belljar's own
// lines are headings ("stdout:", "value:", "error (exception):", …) or notes ("[belljar: …]"): a
// line of the program's that looks like one gets a backslash in front, and characters that could
// make it look like one (control characters, those that change the direction of text, invisible
// ones) are written as escapes. In the object, what is cut is said under `cut`, never in the text
// that was cut.
#ifndef BELLJAR_ENGINE_HOST_ANSWER_H_
#define BELLJAR_ENGINE_HOST_ANSWER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/host/outcome.h"

namespace belljar::host {

// What a program can make as long as it likes.
enum class LongPart { kStdout, kStderr, kResult, kTraceback };

struct AnswerOptions {
  // The length from which a part is cut in the text. Letters and spaces count as one, digits and
  // punctuation as two, line ends as four, and other characters as their bytes of UTF-8, since
  // models pay about that for them: 10,000 are some 2,500 tokens. The object has what is longer
  // than two fifths of it only in excerpts, so that no long text is sent twice.
  size_t characters = 10'000;
  // Where the whole of a part can be read. Parts that are not here can be read nowhere.
  std::map<LongPart, std::string> uris = {};
  // The cell has opened its session: include the session's id in the text.
  bool is_new_session = false;
};

// A part of which the object has only excerpts, as a whole.
struct WholePart {
  LongPart part;
  std::string name;  // "stdout.txt"
  std::string media_type;
  std::string text;  // UTF-8
};
std::vector<WholePart> LongPartsOf(const Outcome& outcome, size_t characters);

std::string AnswerText(const Outcome& outcome, const AnswerOptions& options = {});

// UTF-8. The keys success, status, execution_id, result, stdout, stderr, execution_time, variables
// and error are always present; others only if they say something.
std::string AnswerJson(const Outcome& outcome, const AnswerOptions& options = {}, int indent = -1);

// The section about the error without its heading: findings, or the traceback and the hint. Empty
// for a success.
std::string FailureText(const Outcome& outcome, const AnswerOptions& options = {});

// "line 2: BJ201 module 'x' is not …\n  hint: …" for each of the first ten.
std::string FindingsText(const std::vector<Finding>& findings);

// The first findings as an array, without what says nothing; as many as fit.
std::string FindingsToLeanJson(const std::vector<Finding>& findings, size_t characters);

// Text of a program, shortened in the middle and such that none of its lines looks like Belljar's.
// Without trailing white space.
std::string ProgramText(std::string_view text, const AnswerOptions& options = {});

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_ANSWER_H_
