// Sessions of several languages. Here both kernels are Pythons, of two sandboxes; the languages are
// in tests/python/test_mixed_sessions.py.
#include "engine/sessions/mixed_session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/outside/sandbox.h"
#include "tests/support/support.h"

namespace belljar::sessions::mixed_session_test {
namespace {

constexpr char kOther[] = "other";

class MixedSessions : public ::testing::Test {
 protected:
  MixedSessions() {
    for (std::unique_ptr<outside::Sandbox>* each : {&own_, &other_}) {
      outside::SandboxOptions options;
      options.profile = tests::ShippedProfile("filesystem");
      options.spares = 1;
      *each = tests::Open(std::move(options));
    }
    session_ = tests::Had(own_->OpenSession(OptionsOf(*own_)));
  }

  static SessionOptions OptionsOf(const outside::Sandbox& sandbox) {
    SessionOptions options;
    options.limits = sandbox.profile().default_limits;
    return options;
  }

  Kernel OpenOther() {
    Kernel kernel = other_->AsKernel(tests::Had(other_->OpenSession(OptionsOf(*other_))));
    kernel.language = kOther;
    return kernel;
  }

  core::Result<host::Outcome> Run(const std::string& source, const char* language = "") {
    host::Request request = tests::MakeRequest(source);
    request.limits = own_->profile().default_limits;
    request.language = language;
    return own_->RunCell(*session_, request);
  }

  std::string Value(const std::string& source, const char* language = "") {
    const host::Outcome outcome = tests::Had(Run(source, language));
    return outcome.result_json ? *outcome.result_json : outcome.error ? outcome.error->message : "";
  }

  std::unique_ptr<outside::Sandbox> own_, other_;
  std::shared_ptr<Session> session_;
};

TEST_F(MixedSessions, KernelsHaveTheSameFilesAndVariablesOfTheirOwn) {
  ASSERT_TRUE(session_->AddKernel(OpenOther()));
  EXPECT_EQ(session_->languages(), (std::vector<std::string>{"python", kOther}));
  Value("x = 1\nopen('f', 'w').write('one')");
  EXPECT_EQ(Value("open('f').read()", kOther), "\"one\"");
  EXPECT_EQ(Value("x", kOther), "name 'x' is not defined");
  Value("import os\nos.rename('f', 'g')", kOther);
  EXPECT_EQ(tests::Had(session_->ReadFile("g")), "one");
  EXPECT_EQ(tests::Had(session_->ReadVariable("python", "x")), "1");
  EXPECT_TRUE(session_->SetVariable(kOther, {"x", "[1, {\"a\": null}]"}));
  EXPECT_EQ(Value("x", kOther), R"([1,{"a":null}])");
  EXPECT_FALSE(session_->ReadVariable(kOther, "x; import os"));
  EXPECT_FALSE(session_->ReadVariable("cobol", "x"));
  EXPECT_FALSE(session_->SetVariable(kOther, {"x", "nonsense"}));
}

TEST_F(MixedSessions, ASecondKernelOfALanguageIsClosed) {
  ASSERT_TRUE(session_->AddKernel(OpenOther()));
  Value("x = 1", kOther);
  const Kernel late = OpenOther();
  EXPECT_TRUE(session_->AddKernel(late));
  EXPECT_FALSE(late.session->closed().empty());
  EXPECT_EQ(Value("x", kOther), "1");
}

TEST_F(MixedSessions, AClosedSessionTakesNoKernel) {
  session_->Close("the test says so");
  const Kernel late = OpenOther();
  EXPECT_FALSE(session_->AddKernel(late));
  EXPECT_FALSE(late.session->closed().empty());
}

TEST_F(MixedSessions, AnEndedKernelIsReplaced) {
  const Kernel first = OpenOther();
  ASSERT_TRUE(session_->AddKernel(first));
  first.session->Close("the test says so");
  EXPECT_EQ(session_->languages(), std::vector<std::string>{"python"});
  EXPECT_FALSE(Run("1", kOther));
  ASSERT_TRUE(session_->AddKernel(OpenOther()));
  EXPECT_EQ(Value("1", kOther), "1");
}

TEST_F(MixedSessions, ThreadsTakeTurnsUntilItIsClosed) {
  ASSERT_TRUE(session_->AddKernel(OpenOther()));
  std::atomic<int> ran = 0;
  std::vector<std::thread> threads;
  for (const char* const language : {"", kOther, "", kOther}) {
    threads.emplace_back([&, language] {
      while (session_->closed().empty()) {
        if (Run("x = 1", language)) ++ran;
        (void)session_->Files();
        (void)session_->info();
        (void)session_->Interrupt();
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; i < 5; ++i) (void)session_->AddKernel(OpenOther());
  });
  while (ran < 20) std::this_thread::yield();
  session_->Close("the test says so");
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace belljar::sessions::mixed_session_test
