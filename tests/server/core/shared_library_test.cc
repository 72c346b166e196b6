// SharedLibrary: what is found, and what errors say.
#include "server/core/shared_library.h"

#include <gtest/gtest.h>

namespace belljar::server::shared_library_test {
namespace {

TEST(SharedLibraries, HaveTheFunctionsThatTheyHave) {
  const core::Result<SharedLibrary> library =
      SharedLibrary::Open({"libbelljar-none.so.1", "libm.so.6"}, "the test");
  ASSERT_TRUE(library) << library.error().ToString();
  double (*cosine)(double) = nullptr;
  ASSERT_TRUE(library->Find("cos", cosine));
  EXPECT_EQ(cosine(0), 1);
  EXPECT_FALSE(library->Find("no_such_function", cosine));
  EXPECT_EQ(library->Lacks("no_such_function").ToString(),
            "open libm.so.6: it has no no_such_function");
}

TEST(SharedLibraries, ThatAreMissingAreErrorsThatSayWhatNeedsThem) {
  const core::Result<SharedLibrary> library =
      SharedLibrary::Open({"libbelljar-none.so.1"}, "jobs need the package none");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().operation, "open libbelljar-none.so.1");
  EXPECT_TRUE(library.error().detail.starts_with("jobs need the package none: "))
      << library.error().ToString();
}

}  // namespace
}  // namespace belljar::server::shared_library_test
