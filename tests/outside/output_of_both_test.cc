// What is shown of a program that was started over.
#include "engine/outside/output_of_both.h"

#include <gtest/gtest.h>

#include "tests/support/support.h"

namespace belljar::outside::output_of_both_test {
namespace {

TEST(OutputOfBoth, IsThatOfTheSecondWhereBothAreTheSame) {
  tests::Shown shown;
  OutputOfBoth output(shown.sink);
  output.sink().on_stdout("one\ntw");
  output.sink().on_stderr("e");
  output.StartOver();
  for (const char* piece : {"on", "e\ntwo\n", "three\n"}) output.sink().on_stdout(piece);
  output.sink().on_stderr("err");
  EXPECT_EQ(shown.out, "one\ntwo\nthree\n");
  EXPECT_EQ(shown.err, "err");
}

TEST(OutputOfBoth, IsBothFromWhereTheyDiffer) {
  tests::Shown shown;
  OutputOfBoth output(shown.sink);
  output.sink().on_stdout("same\n1\n");
  output.sink().on_stderr("warning 1\n");
  output.StartOver();
  output.sink().on_stdout("same");
  output.sink().on_stdout("\n2\n");
  output.sink().on_stdout("3\n");
  EXPECT_EQ(shown.out, "same\n1\nsame\n2\n3\n");
  output.sink().on_stderr("warning 2\n");
  EXPECT_TRUE(shown.err.starts_with("warning 1\nbelljar: the program was restarted"));
  EXPECT_TRUE(shown.err.ends_with(":\nwarning 2\n")) << "the note comes once: " << shown.err;
}

}  // namespace
}  // namespace belljar::outside::output_of_both_test
