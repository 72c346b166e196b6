// Where a stopped program was: what a worker says of that may be anything.
#include "engine/run/places.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/core/capture_layout.h"
#include "engine/core/text.h"
#include "tests/support/support.h"

namespace belljar::run::places_test {
namespace {

std::string PlaceOf(const std::string& file, const std::string& function, const std::string& line) {
  return file + '\0' + function + '\0' + line + '\0';
}

class Places : public testing::Test {
 protected:
  Places() {
    request_.filename = "main.py";
    request_.source = "first\n  second  \n\tthird";
    request_.files.push_back({"lib/helper.py", "x = 1\ny = 2\n"});
  }

  // The error of a run that was stopped, with what its worker has recorded.
  host::GuestError After(const std::string& recorded) {
    host::Outcome outcome;
    host::SetStopped(outcome, host::Status::kTimeout, "Timeout", "stopped", "do less");
    AddPlaces(recorded, request_, outcome);
    return *outcome.error;
  }

  bool IsNowhere(const std::string& recorded) {
    const host::GuestError error = After(recorded);
    return error.line == 0 && error.traceback.empty() && error.message == "stopped";
  }

  host::Request request_;
};

TEST_F(Places, AreShownAsATracebackWithTheirLines) {
  const host::GuestError error =
      After(PlaceOf("lib/helper.py", "f", "2") + PlaceOf("main.py", "<module>", "2"));
  EXPECT_EQ(error.line, 2);
  EXPECT_EQ(error.traceback,
            "Traceback (most recent call last):\n"
            "  File \"main.py\", line 2, in <module>\n"
            "    second\n"
            "  File \"lib/helper.py\", line 2, in f\n"
            "    y = 2\n"
            "Timeout: stopped\n");
}

TEST_F(Places, TheLineIsTheInnermostOfTheProgramItself) {
  EXPECT_EQ(After(PlaceOf("main.py", "f", "3") + PlaceOf("main.py", "<module>", "1")).line, 3);
  EXPECT_EQ(After(PlaceOf("lib/helper.py", "f", "2")).line, 0);
}

TEST_F(Places, FivePlacesAreShown) {
  std::string recorded;
  for (int i = 0; i < 5; ++i) recorded += PlaceOf("main.py", "f" + std::to_string(i), "1");
  EXPECT_EQ(After(recorded).traceback.find("left out"), std::string::npos);
  const std::string traceback = After(recorded + PlaceOf("main.py", "f5", "1")).traceback;
  EXPECT_NE(traceback.find("left out"), std::string::npos);
  EXPECT_NE(traceback.find("in f4"), std::string::npos);
  EXPECT_EQ(traceback.find("in f5"), std::string::npos);
  EXPECT_TRUE(IsNowhere(recorded + recorded));
}

TEST_F(Places, NothingIsBelievedOfAnotherForm) {
  EXPECT_TRUE(IsNowhere(""));
  const std::string good = PlaceOf("main.py", "f", "1");
  ASSERT_FALSE(IsNowhere(good));
  for (size_t size = 1; size < good.size(); ++size) EXPECT_TRUE(IsNowhere(good.substr(0, size)));
  EXPECT_TRUE(IsNowhere(good + "x"));
  EXPECT_TRUE(IsNowhere(std::string(core::kMaxPlacesText, '\xff')));
  EXPECT_TRUE(IsNowhere(std::string(core::kMaxPlacesText, '\0')));
  for (const char* line : {"0", "-1", "1x", " 1", "", "1000000001", "99999999999999999999"}) {
    EXPECT_TRUE(IsNowhere(PlaceOf("main.py", "f", line))) << line;
  }
  EXPECT_TRUE(IsNowhere(PlaceOf(std::string(1000, 'a'), "f", "1")));
  EXPECT_TRUE(IsNowhere(PlaceOf("main.py", std::string(1000, 'a'), "1")));
}

TEST_F(Places, NamesCannotForgeLinesOrReachTheTerminal) {
  const std::string traceback =
      After(PlaceOf("a\n  File \"b", "\x1b[2J\xff\nKilled: no", "1")).traceback;
  EXPECT_EQ(traceback,
            "Traceback (most recent call last):\n"
            "  File \"a\\x0a  File \"b\", line 1, in \\x1b[2J\\xff\\x0aKilled: no\n"
            "Timeout: stopped\n");
}

TEST_F(Places, ALineThatIsNotThereIsNotQuoted) {
  EXPECT_EQ(After(PlaceOf("main.py", "f", "1000000000")).traceback,
            "Traceback (most recent call last):\n"
            "  File \"main.py\", line 1000000000, in f\n"
            "Timeout: stopped\n");
}

TEST_F(Places, ALongLineIsShortenedBetweenCharacters) {
  request_.source = "é" + std::string(298, 'x') + "é" + std::string(100'000, 'y');
  const std::string traceback = After(PlaceOf("main.py", "f", "1")).traceback;
  EXPECT_LT(traceback.size(), 600u);
  EXPECT_TRUE(core::IsUtf8(traceback));
}

TEST_F(Places, CodeThatALibraryHasMadeIsNotTheProgram) {
  const std::string made = PlaceOf("<__array_function__ internals>", "dot", "180");
  EXPECT_TRUE(IsNowhere(made));
  EXPECT_EQ(After(made + PlaceOf("main.py", "f", "1")).line, 1);
  request_.filename = "<cell 7>";
  EXPECT_EQ(After(made + PlaceOf("<cell 7>", "f", "2")).line, 2);
}

}  // namespace
}  // namespace belljar::run::places_test
