// Live input: what a program asks is a hostile worker's, and an end of the input stays one.
#include "engine/run/input.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/core/text.h"
#include "engine/host/request.h"

namespace belljar::run::input_test {
namespace {

using Kind = InputAnswer::Kind;

std::string Asked(const std::string& prompt, const std::string& hidden = "false") {
  return R"({"args":[")" + prompt + R"(",)" + hidden + R"(],"kwargs":{}})";
}

TEST(ReadQuestion, HasThePromptAndWhetherItIsHidden) {
  const InputQuestion question = ReadQuestion(Asked("Your name? "));
  EXPECT_EQ(question.prompt, "Your name? ");
  EXPECT_FALSE(question.is_hidden);
  EXPECT_TRUE(ReadQuestion(Asked("Password: ", "true")).is_hidden);
}

TEST(ReadQuestion, APromptIsSafeToDisplay) {
  EXPECT_EQ(ReadQuestion(Asked(R"(\u001b[2J\u202eab\n)")).prompt, "\\x1b[2J\\xe2\\x80\\xaeab\\x0a");
  EXPECT_FALSE(core::HasControls(ReadQuestion(Asked("\xff\xfe")).prompt));
}

TEST(ReadQuestion, OfALongPromptTheEndIsKept) {
  const std::string prompt = ReadQuestion(Asked(std::string(100'000, 'x') + "end? ")).prompt;
  EXPECT_EQ(prompt.size(), 1000u);
  EXPECT_TRUE(prompt.ends_with("xend? "));
}

TEST(ReadQuestion, AnythingElseIsAQuestionWithoutAPrompt) {
  const std::string deep(100'000, '[');
  for (const std::string& text :
       {std::string(), std::string("null"), std::string("[]"), std::string("{}"),
        std::string(R"({"args":1})"), std::string(R"({"args":{}})"), std::string(R"({"args":[]})"),
        std::string(R"({"args":[1,2,3]})"), std::string(R"({"args":[null,"true"]})"), deep,
        R"({"args":)" + deep}) {
    const InputQuestion question = ReadQuestion(text);
    EXPECT_EQ(question.prompt, "") << text.substr(0, 100);
    EXPECT_FALSE(question.is_hidden) << text.substr(0, 100);
  }
}

class AnsweringInputTest : public testing::Test {
 protected:
  std::string Ask(const FunctionCall& call) { return call(host::kAsksInput, Asked("?")); }
  FunctionCall call_ = AnsweringInput([this](const InputQuestion&) {
    ++asked_;
    return answers_.at(asked_ - 1);
  });
  std::vector<InputAnswer> answers_;
  size_t asked_ = 0;
};

TEST_F(AnsweringInputTest, ALineIsAnAnswer) {
  answers_ = {{Kind::kLine, "Ada\n"}, {Kind::kLine, "\xff\n"}};
  EXPECT_EQ(Ask(call_), R"({"value":"Ada\n"})");
  EXPECT_EQ(Ask(call_), "{\"value\":\"\xef\xbf\xbd\\n\"}");
}

TEST_F(AnsweringInputTest, AfterTheEndNobodyIsAskedAgain) {
  answers_ = {{Kind::kEnd, ""}, {Kind::kLine, "more\n"}};
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(Ask(call_), R"({"value":null})");
  EXPECT_EQ(asked_, 1u);
}

TEST_F(AnsweringInputTest, NoAnswerIsNone) {
  answers_ = {{Kind::kNone, ""}, {Kind::kLine, "next\n"}};
  EXPECT_EQ(Ask(call_), "");
  EXPECT_EQ(Ask(call_), R"({"value":"next\n"})") << "which a cell of a session may ask for";
}

TEST_F(AnsweringInputTest, OtherFunctionsAreOthers) {
  EXPECT_EQ(call_("lookup", "{}"), "");
  const FunctionCall both =
      AnsweringInput([](const InputQuestion&) { return InputAnswer(); },
                     [](std::string_view name, std::string_view) { return std::string(name); });
  EXPECT_EQ(both("lookup", "{}"), "lookup");
  EXPECT_EQ(Ask(both), R"({"value":null})");
}

}  // namespace
}  // namespace belljar::run::input_test
