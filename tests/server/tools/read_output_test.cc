// The beginnings of texts that read_output gives.
#include <gtest/gtest.h>

#include <string>

#include "engine/host/program_text.h"

namespace belljar::server::tools::read_output_test {
namespace {

using host::BeginningOf;

TEST(BeginningOf, IsAllOfWhatFits) {
  EXPECT_EQ(BeginningOf("", 10), "");
  EXPECT_EQ(BeginningOf("abcdefghij", 10), "abcdefghij");
}

TEST(BeginningOf, EndsWithALineIfOneEndsNearby) {
  EXPECT_EQ(BeginningOf(std::string(30, 'a') + "\nbcdef", 36), std::string(30, 'a') + "\n");
  EXPECT_EQ(BeginningOf("a\n" + std::string(40, 'b'), 36), "a\n" + std::string(31, 'b'));
}

TEST(BeginningOf, NeverSplitsACharacterAndAlwaysHasOne) {
  EXPECT_EQ(BeginningOf("\xf0\x9f\x98\x80\xf0\x9f\x98\x80", 6), "\xf0\x9f\x98\x80");
  EXPECT_EQ(BeginningOf("\xf0\x9f\x98\x80\xf0\x9f\x98\x80", 1), "\xf0\x9f\x98\x80");
  EXPECT_EQ(BeginningOf("\xff\xff", 1), "\xff");
}

}  // namespace
}  // namespace belljar::server::tools::read_output_test
