#include "engine/host/literals.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace belljar::host {
namespace {

core::ValueForms JavaScript() {
  core::ValueForms forms;
  forms.nul_in_strings = true;
  forms.null = "null";
  forms.true_ = "true";
  forms.false_ = "false";
  forms.nan = "NaN";
  forms.infinity = "Infinity";
  forms.big = "{value}n";
  forms.separator = ", ";
  forms.list = "[{items}]";
  forms.map = "{{items}}";
  forms.entry = "[{key}]: {value}";
  forms.set = "{name} = {value}; ";
  forms.get = "[{name}]";
  return forms;
}

core::ValueForms Bash() {
  core::ValueForms forms = JavaScript();
  forms.strings = core::ValueForms::Strings::kShell;
  forms.nul_in_strings = false;
  forms.separator = " ";
  forms.list = forms.map = "{items}";
  forms.entry = "[{key}]={value}";
  forms.nested = false;
  forms.set = "{name}={value}; ";
  forms.set_list = "declare -a {name}=({value}); ";
  forms.set_map = "declare -A {name}=({value}); ";
  return forms;
}

std::string Set(const std::string& json, const core::ValueForms& forms = JavaScript()) {
  const core::Result<std::string> set = Assignments({{"x", json}}, forms);
  return set ? *set : "error: " + set.error().detail;
}

TEST(Literals, AreInTheWordsOfTheLanguage) {
  EXPECT_EQ(Set("null"), "x = null; ");
  EXPECT_EQ(Set("[true, -1, 1.5, \"a\"]"), "x = [true, -1, 1.5, \"a\"]; ");
  EXPECT_EQ(Set(R"({"a": {"__proto__": []}})"), R"(x = {["a"]: {["__proto__"]: []}}; )");
  EXPECT_EQ(Set("[1, 2]", Bash()), "declare -a x=(1 2); ");
  EXPECT_EQ(Set(R"({"k": [1, null]})", Bash()), "declare -A x=([$'k']=$'[1,null]'); ");
  EXPECT_EQ(*Assignments({{"a", "1"}, {"b", "2"}}, JavaScript()), "a = 1; b = 2; ");
  EXPECT_EQ(Reading("a", JavaScript()), "[a]");
}

TEST(Literals, TextsStayInTheirQuotes) {
  EXPECT_EQ(Set(R"("it's \\ $(id) `id`\n")", Bash()), "x=$'it\\'s \\\\ $(id) `id`\\n'; ");
  EXPECT_EQ(Set(R"("\" + f() + \"\u2028")"), "x = \"\\\" + f() + \\\"\xe2\x80\xa8\"; ");
  // What is filled in is no form.
  EXPECT_EQ(Set(R"({"{value}": "{name}{key}{items}"})"),
            R"(x = {["{value}"]: "{name}{key}{items}"}; )");
  for (const core::ValueForms& forms : {JavaScript(), Bash()}) {
    EXPECT_EQ(Set("\"a\\nb\\r\\n\"", forms).find('\n'), std::string::npos);
  }
}

TEST(Literals, ValuesWithoutAFormInJson) {
  EXPECT_EQ(Set(R"({"$type": "int", "value": "123456789012345678901"})"),
            "x = 123456789012345678901n; ");
  EXPECT_EQ(Set(R"([{"$type": "int", "hex": "-0x20000000000000"}])"), "x = [-9007199254740992n]; ");
  EXPECT_EQ(Set(R"({"$type": "int", "hex": "0x0"})"), "x = 0n; ");
  EXPECT_EQ(Set(R"({"$type": "int", "hex": "0xde0b6b3a7640000"})"), "x = 1000000000000000000n; ");
  EXPECT_EQ(Set(R"({"$type": "int", "hex": "-0x123456789ABCDEFfedcba9876543210"})"),
            "x = -1512366075204170947332355369683137040n; ");
  EXPECT_EQ(Set(R"([{"$type": "float", "value": "-inf"}, {"$type": "float", "value": "nan"}])"),
            "x = [-Infinity, NaN]; ");
  EXPECT_EQ(Set(R"({"$type": "set", "items": [1]})"), "x = [1]; ");
  EXPECT_EQ(Set(R"({"$type": "set", "items": [1]})", Bash()), "declare -a x=(1); ");
}

TEST(Literals, WhatHasNoFormIsAnError) {
  for (const char* json :
       {R"({"$type": "bytes", "base64": "eA=="})", R"({"$type": 1})", R"({"$type": "set"})",
        R"({"$type": "int"})", R"({"$type": "int", "hex": "zz"})",
        R"({"$type": "int", "hex": "0x"})", R"({"$type": "int", "hex": "0x-1"})",
        R"({"$type": "int", "hex": "0x1; f"})", R"({"$type": "int", "hex": "0x1234567; f"})",
        R"({"$type": "int", "value": "-"})", R"({"$type": "int", "value": "1; f"})",
        R"({"$type": "int", "value": "1\n"})", R"({"$type": "int", "value": 1})", "nonsense", "",
        "[1,", "\"\xff\""}) {
    EXPECT_TRUE(Set(json).starts_with("error: ")) << json;
  }
  EXPECT_EQ(Set(R"("a\u0000b")", Bash()), "error: it has a NUL, which is impossible there");
  EXPECT_EQ(Set(R"("a\u0000b")"), R"(x = "a\u0000b"; )");
  const std::string hex(20'000, 'f');
  EXPECT_TRUE(Set(R"({"$type": "int", "hex": "0x)" + hex + "\"}").starts_with("error: "));
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  EXPECT_TRUE(Set(deep).starts_with("error: "));
}

}  // namespace
}  // namespace belljar::host
