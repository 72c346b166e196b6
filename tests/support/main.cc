// The programs of tests: those of one file with --file=NAME, all of them without it.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view kFile = "--file=";

bool IsOf(const testing::TestInfo& test, const std::string& name) {
  const std::string_view path = test.file();
  return path.substr(path.rfind('/') + 1) == name + ".cc";
}

// The tests of a file, as a filter. Suites named …Soak are for `ctest -L soak` only.
std::string TestsOf(const std::string& name) {
  std::string filter;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int k = 0; k < suite.total_test_count(); ++k) {
      const testing::TestInfo& test = *suite.GetTestInfo(k);
      if (IsOf(test, name)) filter.append(suite.name()).append(".").append(test.name()) += ':';
    }
  }
  return filter;
}

// The value of --file; empty: not given.
std::string FileIn(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with(kFile)) return argv[i] + kFile.size();
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = FileIn(argc, argv);
  // A folder for reports (GTEST_OUTPUT) has one of each file. InitGoogleTest reads it.
  std::string& output = testing::GTEST_FLAG(output);
  if (!name.empty() && output.ends_with('/')) output += name + ".xml";
  testing::InitGoogleTest(&argc, argv);
  if (!name.empty()) {
    const std::string tests = TestsOf(name);
    if (tests.empty()) {
      std::fprintf(stderr, "%s: no test is in %s.cc\n", argv[0], name.c_str());
      return 2;
    }
    // What ctest leaves out, "-*Soak*", or everything.
    std::string& filter = testing::GTEST_FLAG(filter);
    filter = tests + (filter == "*" ? "" : filter);
  }
  return RUN_ALL_TESTS();
}
