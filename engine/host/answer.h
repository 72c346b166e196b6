// Answers: what a model gets of an outcome, as text and as a lean object. Both omit default values
// and cut long parts; the whole outcome is OutcomeToJson (outcome.h).
//
//   stdout:
//   hi
//
//   value:
//   42
//
// Nothing chosen by a program can be mistaken for Belljar's words. In the text, only Belljar's own
// lines are headings ("stdout:", "value:", "error (exception):", …) or notes ("[belljar: …]"): a
// line of the program's that looks like one is preceded by a backslash, and characters that could
// make it look like one (control characters, those that change the direction of text, invisible
// ones) are written as escapes. In the object, cuts are described under `cut`, never in the text
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

// The parts whose length the program controls.
enum class LongPart { kStdout, kStderr, kResult, kTraceback };

struct AnswerOptions {
  // The length from which a part is cut in the text. Letters and spaces count as one, digits and
  // punctuation as two, line ends as four, and other characters as their UTF-8 bytes, which is
  // about what models charge for them: 10,000 are some 2,500 tokens. The object has only excerpts
  // of what is longer than two fifths of it, so that no long text is sent twice.
  size_t characters = 10'000;
  // Where the whole of a part can be read. Parts not listed cannot be read anywhere.
  std::map<LongPart, std::string> uris = {};
  // What reads them.
  std::string reader = "resource";
  // What the caller calls the limit of the output, if there is such a name.
  std::string output_limit = {};
  // The cell has opened its session: include the session's id in the text.
  bool is_new_session = false;
};

// The full content of a part that the object only has in excerpts.
struct WholePart {
  LongPart part;
  std::string name;  // "stdout.txt"
  std::string media_type;
  std::string text;  // UTF-8
};
std::vector<WholePart> LongPartsOf(const Outcome& outcome, size_t characters);

std::string AnswerText(const Outcome& outcome, const AnswerOptions& options = {});

// UTF-8. The keys success, status, execution_id, result, stdout, stderr, execution_time, variables
// and error are always present; others only if they add information.
std::string AnswerJson(const Outcome& outcome, const AnswerOptions& options = {}, int indent = -1);

// The section about the error without its heading: findings, or the traceback and the hint. Empty
// on success.
std::string FailureText(const Outcome& outcome, const AnswerOptions& options = {});

// "line 2: BJ201 module 'x' is not …\n  hint: …" for each of the first ten.
std::string FindingsText(const std::vector<Finding>& findings);

// The first findings as an array, without uninformative members; as many as fit.
std::string FindingsToLeanJson(const std::vector<Finding>& findings, size_t characters);

// A program's text, shortened in the middle and such that none of its lines looks like Belljar's.
// Without trailing white space. The whole can be read at `uri`; empty: nowhere.
std::string ProgramText(std::string_view text, const AnswerOptions& options = {},
                        const std::string& uri = {});

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_ANSWER_H_
