// Programs that may run twice: which modules they name, and what is shown of both runs.
#include "engine/outside/start_over.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/support.h"

namespace belljar::outside::start_over_test {
namespace {

using StringList = std::vector<std::string>;

TEST(NamedModules, AreTheWordsOfTheTextThatAProfileHas) {
  core::Profile profile;
  for (const char* name : {"inspect", "math", "os.path", "xml.etree.ElementTree"}) {
    profile.modules.push_back({name, {}});
  }
  profile.packages.push_back({"set", {"pandas"}});
  const auto named = [&](std::string_view source) { return NamedModules(profile, source); };
  EXPECT_EQ(named(""), StringList());
  EXPECT_EQ(named("import math"), StringList({"math"}));
  EXPECT_EQ(named("math"), StringList({"math"}));
  EXPECT_EQ(named("# pandas or 'os'"), StringList({"os", "pandas"}));
  EXPECT_EQ(named("from xml.etree import ElementTree as xml"), StringList({"xml"}));
  EXPECT_EQ(named("mathe, aftermath, math_, os2, path = socket"), StringList());
  EXPECT_EQ(named("\xc3\xa9math\xff\0os"), StringList({"math"})) << "the rest is not text";
  EXPECT_EQ(named(std::string_view("math\0os", 7)), StringList({"math", "os"}));
  EXPECT_EQ(named("help(len); helper"), StringList({"inspect"})) << "which help() needs";
}

TEST(NamesAny, LooksForWholeWords) {
  const std::set<std::string, std::less<>> names = {"scipy", "PIL"};
  for (const char* source : {"scipy", "import scipy.stats", "'PIL'", "(scipy)"}) {
    EXPECT_TRUE(NamesAny(names, source)) << source;
  }
  for (const char* source : {"", "scipy2", "_scipy", "pil", "SPIL"}) {
    EXPECT_FALSE(NamesAny(names, source)) << source;
  }
}

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
}  // namespace belljar::outside::start_over_test
