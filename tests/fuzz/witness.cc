#include "tests/fuzz/witness.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "server/calls/call_queue.h"
#include "server/json_rpc/message.h"
#include "server/mcp/service.h"
#include "server/tools/tools.h"
#include "tests/fuzz/catalogue.h"
#include "tests/fuzz/invariant.h"

namespace belljar::tests {
namespace {

using Json = nlohmann::json;

// Bytes. Four parts of 10,000 characters, in escapes of up to ten bytes at worst, and headings.
constexpr size_t kMaxLeanText = 100'000;

Json Read(std::string_view text) {
  // The library would stop there as at the end.
  if (text.find('\0') != text.npos) return Json::parse("", nullptr, false);
  return Json::parse(text, nullptr, false);
}

// Calls `mark` for each character that is not part of a string. Precondition: valid JSON.
template <typename Mark>
void EachUnquoted(std::string_view text, Mark mark) {
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      mark(text[i]);
    }
  }
}

size_t Depth(std::string_view text) {
  size_t depth = 0, deepest = 0;
  EachUnquoted(text, [&](char c) {
    if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
    if (c == '}' || c == ']') --depth;
  });
  return deepest;
}

// The number of members of all its objects.
size_t Members(std::string_view text) {
  size_t members = 0;
  EachUnquoted(text, [&](char c) { members += c == ':'; });
  return members;
}

// Reading keeps one of the members of one name.
bool RepeatsAMember(std::string_view text, const Json& read) {
  return Members(text) != Members(read.dump());
}

// What the message is, told apart by another reading than the server's.
struct Meaning {
  bool is_request = false;
  bool is_notification = false;
  Json id;  // to be echoed
};

Meaning MeaningOf(const std::string& text) {
  Meaning meaning;
  const Json message = Read(text);
  if (!message.is_object() || Depth(text) > server::json_rpc::kMaxMessageDepth) return meaning;
  if (RepeatsAMember(text, message)) return meaning;
  const bool has_id = message.contains("id");
  if (has_id && server::json_rpc::IsId(message["id"])) meaning.id = message["id"];
  if (message.value("jsonrpc", Json()) != "2.0") return meaning;
  if (!message.value("method", Json()).is_string()) return meaning;
  if (message.contains("params") && !message["params"].is_object()) return meaning;
  meaning.is_request = !meaning.id.is_null();
  meaning.is_notification = !has_id;
  return meaning;
}

// Whether the message asks for whole results.
bool WantsFull(const std::string& message) {
  static const Json::json_pointer detail("/params/arguments/detail");
  const Json json = Read(message);
  return json.contains(detail) && json[detail] == "full";
}

// What a model reads has no control character that could hide or rewrite a part of it.
bool IsPlain(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f);
  });
}

// Clients throw where the result of a tool with an output schema has no structured content.
void CheckCallResult(const Json& result, const Exchanged& exchanged) {
  const std::string& text = exchanged.answer.text;
  if (!result.contains("content")) return;
  const auto said = result["content"].at(0).at("text").get<std::string>();
  const bool is_error = result.at("isError").get<bool>();
  Require(is_error || result.contains("structuredContent"), "a result without content", text);
  if (!result.contains("structuredContent")) return;
  Require(result["structuredContent"].is_object(), "structured content is not an object", text);
  if (WantsFull(exchanged.text)) {
    Require(Read(said) == result["structuredContent"], "two results differ", text);
  } else {
    Require(!said.empty() && IsPlain(said), "text with control characters, or none", text);
    Require(said.size() <= kMaxLeanText, "a long text was not cut", text);
  }
}

Json ReadLine(std::string_view line) {
  Require(line.find_first_of("\r\n") == line.npos, "more than one line", line);
  Json json = Read(line);
  Require(json.is_object(), "not a JSON object", line);
  Require(json.value("jsonrpc", Json()) == "2.0", "not JSON-RPC 2.0", line);
  return json;
}

// The answer against the text that it answers.
void CheckAnswer(const Exchanged& exchanged) {
  const server::Answer& answer = exchanged.answer;
  const Meaning meaning = MeaningOf(exchanged.text);
  if (answer.kind == server::Answer::Kind::kAccepted ||
      answer.kind == server::Answer::Kind::kWithdrawn) {
    Require(answer.text.empty(), "text where none is wanted", answer.text);
    const bool withdrawn = answer.kind == server::Answer::Kind::kWithdrawn;
    Require(withdrawn == meaning.is_request, "a request without an answer", exchanged.text);
    return;
  }
  const Json json = ReadLine(answer.text);
  Require(json.contains("id") && json["id"] == meaning.id, "another id", answer.text);
  Require(json.contains("result") != json.contains("error"), "neither or both", answer.text);
  if (json.contains("error")) {
    Require(json["error"].at("code").is_number_integer(), "no code", answer.text);
    Require(json["error"].at("message").is_string(), "no message", answer.text);
  } else {
    Require(answer.kind == server::Answer::Kind::kResult, "a result that is said to be none",
            answer.text);
    Require(meaning.is_request, "a result without a request", exchanged.text);
    CheckCallResult(json["result"], exchanged);
  }
  Require(!meaning.is_notification || answer.kind != server::Answer::Kind::kResult,
          "a notification was answered", exchanged.text);
}

}  // namespace

void CheckLine(std::string_view line) { ReadLine(line); }

std::vector<std::string> Exchanged::Texts() const {
  std::vector<std::string> texts = notifications;
  if (!answer.text.empty()) texts.push_back(answer.text);
  return texts;
}

// The way back, listened in on.
class Witness::Heard final : public server::Reply {
 public:
  Heard(Witness& witness, Exchanged exchanged, std::shared_ptr<Reply> reply)
      : witness_(witness), exchanged_(std::move(exchanged)), reply_(std::move(reply)) {}
  ~Heard() override { Require(finished_, "a message was never answered", exchanged_.text); }

  void Notify(std::string text) override {
    Require(!finished_, "a notification after the answer", text);
    CheckLine(text);
    exchanged_.notifications.push_back(text);
    reply_->Notify(std::move(text));
  }

  void Finish(server::Answer answer) override {
    Require(!std::exchange(finished_, true), "answered twice", exchanged_.text);
    exchanged_.answer = answer;
    CheckAnswer(exchanged_);
    reply_->Finish(std::move(answer));
    const std::lock_guard lock(witness_.mutex_);
    witness_.finished_.push_back(exchanged_);
    --witness_.waiting_;
    witness_.changed_.notify_all();
  }

 private:
  Witness& witness_;
  Exchanged exchanged_;
  const std::shared_ptr<Reply> reply_;
  bool finished_ = false;
};

void Witness::Handle(server::IncomingMessage message, std::shared_ptr<server::Reply> reply) {
  {
    const std::lock_guard lock(mutex_);
    ++waiting_;
  }
  auto heard = std::make_shared<Heard>(
      *this, Exchanged{message.text, message.headers.has_value(), {}, {}}, std::move(reply));
  inner_.Handle(std::move(message), std::move(heard));
}

std::vector<Exchanged> Witness::Finished() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_ == 0; });
  return std::exchange(finished_, {});
}

bool Witness::waits() const {
  const std::lock_guard lock(mutex_);
  return waiting_ > 0;
}

Witness& ServiceUnderTest() {
  struct Service {
    profiles::ProfileCatalogue catalogue = CatalogueOfSource();
    std::unique_ptr<server::tools::Sandboxes> sandboxes =
        std::move(*server::tools::Sandboxes::Open({}, catalogue));
    server::ResourceStore resources;
    server::CallQueue queue{{.running = 1, .waiting = 8}};
    server::Calls calls{queue};
    server::mcp::McpService mcp{
        {.version = "0", .instructions = "none"},
        server::tools::MakeTools(*sandboxes, catalogue, {}, resources, nullptr),
        calls,
        &resources};
    Witness witness{mcp};
  };
  // Never destroyed: the fuzzer leaves by _Exit, and by a signal where it has found something.
  static Service* const service = new Service;
  return service->witness;
}

}  // namespace belljar::tests
