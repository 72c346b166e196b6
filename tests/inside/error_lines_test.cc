// How errors that interpreters and compilers write are read.
#include "engine/inside/error_lines.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace belljar::inside::error_lines_test {
namespace {

std::vector<ErrorLine> Patterns(
    const std::vector<std::pair<std::string, std::vector<std::string>>>& given, bool last = false) {
  std::vector<ErrorLine> patterns;
  for (const auto& [pattern, groups] : given) {
    core::Result<ErrorLine> line = ErrorLine::Compile({pattern, groups, last});
    if (!line) abort();
    patterns.push_back(std::move(*line));
  }
  return patterns;
}

TEST(ErrorLines, AGroupIsWhatItIsCalled) {
  const auto patterns = Patterns({{"^([^:]+):([0-9]+):([0-9]+): ([A-Za-z]+): (.*)$",
                                   {"file", "line", "column", "type", "message"}}});
  const core::ProgramError error =
      ReadErrorLines(patterns, "note\nmain.c:3:7: Error: no such thing\n", "main.c");
  EXPECT_EQ(error.line, 3);
  EXPECT_EQ(error.column, 7);
  EXPECT_EQ(error.type, "Error");
  EXPECT_EQ(error.message, "no such thing");
}

TEST(ErrorLines, ALineOfAnotherFileIsPassedOver) {
  const auto patterns = Patterns({{"^([^:]+):([0-9]+): (.*)$", {"file", "line", "message"}}});
  const std::string_view text = "library.h:9: theirs\n/workspace/main.c:4: ours\n";
  EXPECT_EQ(ReadErrorLines(patterns, text, "main.c").line, 4);
  EXPECT_EQ(ReadErrorLines(patterns, text, "other.c").line, 0);
  EXPECT_EQ(ReadErrorLines(patterns, "xmain.c:4: not ours\n", "main.c").line, 0);
}

TEST(ErrorLines, TheFirstLineOfEachPatternCounts) {
  const auto patterns = Patterns({{"^E: (.*)$", {"message"}}, {"line ([0-9]+)", {"line"}}});
  const core::ProgramError error = ReadErrorLines(patterns, "E: a\nE: b\nline 1\nline 2\n", "f");
  EXPECT_EQ(error.message, "a");
  EXPECT_EQ(error.line, 1);
}

TEST(ErrorLines, OrTheLastOne) {
  const auto patterns =
      Patterns({{"^([A-Z])Error$", {"type"}}, {"^ (.), line ([0-9]+)$", {"file", "line"}}}, true);
  const core::ProgramError error =
      ReadErrorLines(patterns, "AError\n f, line 1\n f, line 2\n g, line 3\nBError\n", "f");
  EXPECT_EQ(error.type, "B");
  EXPECT_EQ(error.line, 2);
}

TEST(ErrorLines, WhatIsNoNumberOrTooLongIsNoError) {
  const auto patterns = Patterns({{"line ([0-9]+)", {"line"}}});
  EXPECT_EQ(ReadErrorLines(patterns, "line 99999999999999999999", "f").line, 0);
  EXPECT_EQ(ReadErrorLines(patterns, "line 5" + std::string(3000, 'x'), "f").line, 0);
  EXPECT_EQ(ReadErrorLines(patterns, "", "f").line, 0);
}

TEST(ErrorLines, APatternThatCannotBeIsRefused) {
  const core::Result<ErrorLine> unbalanced = ErrorLine::Compile({"(", {}});
  ASSERT_FALSE(unbalanced);
  EXPECT_NE(unbalanced.error().ToString().find("compile the pattern"), std::string::npos);
  EXPECT_FALSE(ErrorLine::Compile({"(a)", {"line", "message"}}));
}

}  // namespace
}  // namespace belljar::inside::error_lines_test
