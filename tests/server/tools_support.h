// What the tests of the tools share: one server's sandboxes and tools, and a way to call them.
#ifndef BELLJAR_TESTS_SERVER_TOOLS_SUPPORT_H_
#define BELLJAR_TESTS_SERVER_TOOLS_SUPPORT_H_

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "server/tools/tools.h"

namespace belljar::tests {

// Keeps what a CallRecord said.
class Books : public server::CallObserver {
 public:
  struct Entry {
    std::string tool;
    std::string caller;
    std::string profile;
    std::string code;
    std::optional<host::Status> status;
    std::optional<std::string> failure;
  };
  void Called(const server::CallRecord& record) override;
  void SessionChanged(const server::SessionRecord& record) override;
  std::vector<Entry> Take();
  // "action caller session detail"
  std::vector<std::string> TakeChanges();

 private:
  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::vector<std::string> changes_;
};

struct Answered {
  nlohmann::json object;  // null: there was none
  std::string message;    // of an answer without an object
  bool is_error = false;
  std::string text;  // what a model reads
};

class Tools {
 public:
  explicit Tools(const server::ExecutionConfig& config,
                 const server::ContainerConfig& container = {},
                 const server::PackagesConfig& packages = {},
                 const server::AnswersConfig& answers = {},
                 const server::SessionsConfig& sessions = {},
                 server::SessionRegistry::Clocks clocks = {});

  server::Tool& Get(const std::string& name);
  // Fails the test where the machine fails, or where the answer is not what the schema says.
  Answered Call(const std::string& name, nlohmann::json arguments,
                const server::Caller& caller = {});
  Answered CallWith(const std::string& name, const server::ToolCall& call);

  server::tools::Sandboxes& sandboxes() { return *sandboxes_; }
  std::vector<std::unique_ptr<server::Tool>>& all() { return tools_; }
  Books& books() { return books_; }
  server::ResourceStore& resources() { return resources_; }
  server::SessionRegistry& sessions() { return sessions_; }

 private:
  Books books_;
  server::ResourceStore resources_;
  std::unique_ptr<server::tools::Sandboxes> sandboxes_;
  server::SessionRegistry sessions_;
  std::vector<std::unique_ptr<server::Tool>> tools_;
};

// A server with every setting as it comes, started at the first call and shared by all tests of a
// program.
Tools& Shared();
Answered Execute(nlohmann::json arguments, const server::Caller& caller = {});
Answered Validate(nlohmann::json arguments, const server::Caller& caller = {});
Answered Info(nlohmann::json arguments = nullptr, const server::Caller& caller = {});

// "team-a", who may use these profiles.
server::Caller CallerOf(std::vector<std::string> profiles);

#define EXPECT_HOLDS(text, part) \
  EXPECT_NE((text).find(part), std::string::npos) << "no \"" << (part) << "\" in:\n" << (text)

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_SERVER_TOOLS_SUPPORT_H_
