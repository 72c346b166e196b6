// Require: what has to hold whatever the input is. A breach ends the program, with the input as the
// fuzzer's artefact.
#ifndef BELLJAR_TESTS_FUZZ_INVARIANT_H_
#define BELLJAR_TESTS_FUZZ_INVARIANT_H_

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace belljar::tests {

inline void Require(bool holds, const char* what, std::string_view shown = {}) {
  if (holds) return;
  fprintf(stderr, "broken: %s\n%.*s\n", what, static_cast<int>(shown.size()), shown.data());
  abort();
}

// What arrives in one piece ends at each byte 0xFF, which is no part of it: so the fuzzer chooses
// where a stream is cut, and a corpus stays readable.
inline std::vector<std::string> Cut(std::string_view input) {
  std::vector<std::string> pieces;
  while (true) {
    const size_t cut = input.find('\xff');
    if (cut != 0 && !input.empty()) pieces.emplace_back(input.substr(0, cut));
    if (cut == std::string_view::npos) return pieces;
    input.remove_prefix(cut + 1);
  }
}

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_FUZZ_INVARIANT_H_
