// web_fuzz: requests to the HTTP API and to the compatible APIs, through the real router and
// handlers to the real tools. An input is
//
//   POST /v1/executions?a=b
//   Prefer: respond-async
//
//   {"code": "1"}
//
// What the transport checks before (tokens, media types, lengths) is http_fuzz's.
#include <algorithm>
#include <atomic>
#include <boost/beast/http/verb.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "server/calls/call_queue.h"
#include "server/calls/observer.h"
#include "server/compatible/compatible_apis.h"
#include "server/compatible/judge0/judge0.h"
#include "server/compatible/piston/piston.h"
#include "server/compatible/sandbox_fusion/sandbox_fusion.h"
#include "server/core/resource_store.h"
#include "server/core/session_registry.h"
#include "server/http/router.h"
#include "server/rest/rest_service.h"
#include "server/tools/output_schemas.h"
#include "server/tools/tools.h"
#include "tests/fuzz/catalogue.h"
#include "tests/fuzz/invariant.h"

namespace belljar::tests {
namespace {

using Json = nlohmann::json;

// What ran.
class RunCounter : public server::CallObserver {
 public:
  void Called(const server::CallRecord&) override { ++calls; }
  std::atomic<size_t> calls = 0;
};

class Reply : public server::WebReply {
 public:
  void Finish(server::WebAnswer answer) override {
    const std::lock_guard lock(mutex_);
    Require(!ended_ && !begun_, "a second answer", answer.body);
    answer_ = std::move(answer);
    ended_ = true;
    changed_.notify_all();
  }
  void Begin(server::WebAnswer head) override {
    const std::lock_guard lock(mutex_);
    Require(!ended_ && !begun_, "a second beginning", head.body);
    begun_ = true;
    answer_ = std::move(head);
  }
  void Write(std::string piece) override {
    const std::lock_guard lock(mutex_);
    Require(begun_ && !ended_, "a piece outside of a stream", piece);
    answer_.body += piece;
  }
  void End() override {
    const std::lock_guard lock(mutex_);
    Require(begun_ && !ended_, "an end outside of a stream");
    ended_ = true;
    changed_.notify_all();
  }
  bool AwaitRoom(size_t, std::chrono::steady_clock::time_point) override { return true; }

  server::WebAnswer Await() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_; });  // the fuzzer has a limit
    return answer_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  server::WebAnswer answer_;
  bool begun_ = false;
  bool ended_ = false;
};

// Never destroyed: the fuzzer leaves by _Exit.
struct Service {
  profiles::ProfileCatalogue catalogue = CatalogueOfSource();
  std::unique_ptr<server::tools::Sandboxes> sandboxes =
      std::move(*server::tools::Sandboxes::Open({}, catalogue));
  server::ResourceStore resources;
  server::SessionRegistry sessions{server::SessionsConfig{}};
  server::CallQueue queue{{.running = 1, .waiting = 8}};
  RunCounter counter;
  std::vector<std::shared_ptr<server::Tool>> tools = Tools();
  server::Calls calls{queue, {}, &counter};
  server::rest::RestService rest{RestParts(), calls, resources, &sessions};
  server::compatible::CompatibleApis compatible_apis{tools, calls, {"0", "3.11.2", 8}};
  server::http::Router router{Handlers()};
  // By method and pattern, as the document has them.
  std::map<std::string, std::set<std::string>> documented = Documented();

  std::vector<std::shared_ptr<server::Tool>> Tools() {
    server::AnswersConfig answers;
    answers.detail = "full";
    std::vector<std::unique_ptr<server::Tool>> made =
        server::tools::MakeTools(*sandboxes, catalogue, answers, resources, &counter, &sessions);
    return {std::make_move_iterator(made.begin()), std::make_move_iterator(made.end())};
  }
  server::rest::RestService::Parts RestParts() {
    server::rest::RestService::Parts parts;
    parts.tools = tools;
    parts.answers = {{"execute_code", server::tools::OutcomeSchema()}};
    parts.version = "0";
    parts.python_version = "3";
    parts.profiles = {"basic"};
    parts.limits = [] { return nlohmann::ordered_json::object(); };
    parts.statistics = [] { return nlohmann::ordered_json::object(); };
    parts.change_limits = [](const server::Caller&, const Json&) { return core::Result<void>(); };
    return parts;
  }
  void AddCompatibleApis() {
    const auto chosen = sandboxes->Choose(nullptr, server::Caller());
    const server::compatible::ApiTerms terms{"basic", "fronts.fuzzed", false, (*chosen)->limits,
                                             (*chosen)->profile.maximum_limits};
    compatible_apis.Add<server::compatible::sandbox_fusion::SandboxFusion>(terms);
    compatible_apis.Add<server::compatible::piston::Piston>(terms);
    compatible_apis.Add<server::compatible::judge0::Judge0>(terms);
  }
  std::vector<server::WebHandler*> Handlers() {
    AddCompatibleApis();
    std::vector<server::WebHandler*> handlers = compatible_apis.handlers();
    handlers.push_back(&rest);
    return handlers;
  }
  std::map<std::string, std::set<std::string>> Documented() const {
    std::map<std::string, std::set<std::string>> statuses;
    const Json document = Json::parse(rest.open_api());
    for (const auto& [path, methods] : document["paths"].items()) {
      for (const auto& [method, operation] : methods.items()) {
        for (const auto& [status, response] : operation["responses"].items()) {
          statuses[method + " " + path].insert(status);
        }
      }
    }
    return statuses;
  }
};

Service& TheService() {
  static Service* const service = new Service;
  return *service;
}

// --- the request
// ----------------------------------------------------------------------------------

std::string_view TakeLine(std::string_view& input) {
  const size_t end = std::min(input.find('\n'), input.size());
  const std::string_view line = input.substr(0, end);
  input.remove_prefix(std::min(end + 1, input.size()));
  return line;
}

void TakeHeader(std::string_view line, server::WebHeaders& headers) {
  const size_t colon = line.find(": ");
  if (colon == line.npos) return;
  const std::string_view name = line.substr(0, colon);
  std::string value(line.substr(colon + 2));
  // The transport lets no control character pass.
  std::erase_if(value, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (name == "Idempotency-Key") headers.idempotency_key = value;
  if (name == "If-None-Match") headers.if_none_match = value;
  if (name == "If-Range") headers.if_range = value;
  if (name == "Range") headers.range = value;
  if (name == "traceparent") headers.traceparent = value;
  if (name == "Accept") headers.accept = value;
  if (name == "Prefer") headers.prefer = value;
}

// --- the answer
// -----------------------------------------------------------------------------------

Json ParsedJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  Require(!json.is_discarded() && text.find('\0') == text.npos, "not JSON", text);
  return json;
}

void CheckBody(const server::WebAnswer& answer) {
  if (answer.type.empty()) {
    Require(answer.body.empty(), "a body without a type", answer.body);
  } else if (answer.type == "application/problem+json") {
    const Json problem = ParsedJson(answer.body);
    Require(problem.value("status", 0u) == answer.status, "another status", answer.body);
    Require(problem["title"].is_string() && problem["detail"].is_string() &&
                !problem["detail"].get_ref<const std::string&>().empty(),
            "a problem that says nothing", answer.body);
  } else if (answer.type == "application/json") {
    ParsedJson(answer.body);
  } else if (answer.type == "application/jsonl") {
    std::string_view rest = answer.body;
    Require(rest.empty() || rest.ends_with('\n'), "a line without an end", rest);
    while (!rest.empty()) ParsedJson(TakeLine(rest));
  }
}

void CheckHeaders(std::string_view headers) {
  Require(headers.empty() || headers.ends_with("\r\n"), "half a header", headers);
  while (!headers.empty()) {
    const size_t end = headers.find("\r\n");
    const std::string_view line = headers.substr(0, end);
    Require(line.find(": ") != line.npos, "no header", line);
    Require(std::all_of(line.begin(), line.end(),
                        [](unsigned char c) { return c >= 0x20 && c < 0x7f; }),
            "a header with other characters", line);
    headers.remove_prefix(end + 2);
  }
}

// As the document writes it.
std::string NameOf(std::string_view method, std::string_view pattern) {
  std::string name;
  for (const char c : method) name += static_cast<char>(c | 0x20);
  name += " ";
  name += pattern;
  std::erase(name, '*');
  return name;
}

void Try(std::string_view input) {
  Service& service = TheService();
  std::string_view rest = input;
  std::string_view line = TakeLine(rest);
  const size_t space = std::min(line.find(' '), line.size());
  const std::string_view method = line.substr(0, space);
  std::string_view target = line.substr(std::min(space + 1, line.size()));
  server::WebRequest request;
  const size_t question = std::min(target.find('?'), target.size());
  request.query = target.substr(std::min(question + 1, target.size()));
  std::erase_if(request.query, [](unsigned char c) { return c <= 0x20 || c >= 0x7f; });
  target = target.substr(0, question);
  const boost::beast::http::verb verb = boost::beast::http::string_to_verb(std::string(method));
  server::http::Router::Found found = service.router.Find(verb, target);
  if (!found.match) return;
  while (!rest.empty()) {
    line = TakeLine(rest);
    if (line.empty()) break;
    TakeHeader(line, request.headers);
  }
  const server::WebRoute& route = found.match->route();
  if (route.body != server::WebRoute::Body::kNone) request.body = rest;
  request.parameters = found.match->parameters;

  const size_t before = service.counter.calls;
  const auto reply = std::make_shared<Reply>();
  found.match->handler->Handle(found.match->index, std::move(request), reply);
  const server::WebAnswer answer = reply->Await();
  while (service.queue.counters().running + service.queue.counters().waiting > 0) {
    std::this_thread::yield();
  }
  CheckBody(answer);
  CheckHeaders(answer.headers);
  const bool is_rest = found.match->handler == &service.rest;
  if (is_rest) {
    const auto documented =
        service.documented.find(NameOf(server::NameOf(route.method), route.pattern));
    Require(documented != service.documented.end(), "no such operation", route.pattern);
    Require(documented->second.contains(std::to_string(answer.status)),
            "a status that is not documented", answer.body);
  }
  // "fail" is a failure of the machine (stand_in.cc).
  Require(answer.status < 500 || answer.status == 503 || answer.status == 504 ||
              input.find("fail") != input.npos,
          "a failure", answer.body);
  if (answer.status >= 400 && answer.status < 500 && is_rest) {
    Require(service.counter.calls == before, "it was refused and ran", answer.body);
  }
}

}  // namespace
}  // namespace belljar::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  belljar::tests::Try({reinterpret_cast<const char*>(data), size});
  return 0;
}
