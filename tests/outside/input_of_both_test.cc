// Who is asked by a program that is started over.
#include "engine/outside/input_of_both.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace belljar::outside::input_of_both_test {
namespace {

class InputOfBothTest : public testing::Test {
 protected:
  std::string Ask(const std::string& question) { return through_("@input", question); }

  std::vector<std::string> asked_;
  const run::FunctionCall call_ = [this](std::string_view, std::string_view question) {
    asked_.emplace_back(question);
    return "answer " + std::to_string(asked_.size());
  };
  InputOfBoth input_{call_};
  const run::FunctionCall through_ = input_.call();
};

TEST_F(InputOfBothTest, NobodyIsAskedTwice) {
  EXPECT_EQ(Ask("name?"), "answer 1");
  EXPECT_EQ(Ask("age?"), "answer 2");
  input_.StartOver();
  EXPECT_EQ(Ask("name?"), "answer 1");
  EXPECT_EQ(Ask("age?"), "answer 2");
  EXPECT_EQ(Ask("more?"), "answer 3");
  EXPECT_EQ(asked_, (std::vector<std::string>{"name?", "age?", "more?"}));
}

TEST_F(InputOfBothTest, AnotherQuestionIsAsked) {
  EXPECT_EQ(Ask("3 or 4?"), "answer 1");
  EXPECT_EQ(Ask("again?"), "answer 2");
  input_.StartOver();
  EXPECT_EQ(Ask("5 or 6?"), "answer 3");
  EXPECT_EQ(Ask("again?"), "answer 4") << "what came after belongs to the other question";
}

}  // namespace
}  // namespace belljar::outside::input_of_both_test
