#include "server/mcp/service.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/suggest.h"
#include "server/core/resource_piece.h"
#include "server/mcp/elicitation.h"
#include "server/mcp/error_code.h"
#include "server/mcp/revision.h"

namespace belljar::server::mcp {
namespace {

using Json = nlohmann::json;

Answer ResultOf(const Json& id, std::string_view result) {
  return {Answer::Kind::kResult, json_rpc::ResultText(id, result), {}, {}};
}

Answer Failure(const Json& id, const json_rpc::RpcError& error,
               Answer::Kind kind = Answer::Kind::kResult) {
  return {kind, json_rpc::ErrorText(id, error), {}, {}};
}

// A member of `object`; null if the member is absent or `object` is not an object.
Json Member(const Json& object, const char* key) {
  return object.is_object() ? object.value(key, Json()) : Json();
}

// The first revision with resource_link in results. Revisions are dates, so they compare as
// strings.
constexpr std::string_view kFirstWithLinks = "2025-06-18";

// The key for a conversation's calls. The name of a conversation does not authenticate anyone, so
// it gives access only to the sender's own calls. Names contain no spaces.
std::string Owned(const Caller& caller, const std::string& conversation) {
  return conversation.empty() ? "" : conversation + " " + caller.name;
}

Answer Refuse(const Json& id, const CallQueue::Refusal& refusal) {
  Answer answer = Failure(id, {kOverloaded,
                               Describe(refusal),
                               {{"retry_after", refusal.retry_after.count()},
                                {"running", refusal.running},
                                {"waiting", refusal.waiting}}});
  answer.retry_after = refusal.retry_after;
  return answer;
}

}  // namespace

bool RunningRequests::Begin(const std::string& conversation, const std::string& id,
                            const std::shared_ptr<Cancellation>& cancellation) {
  if (conversation.empty()) return true;
  const std::lock_guard lock(mutex_);
  return requests_.try_emplace({conversation, id}, cancellation).second;
}

void RunningRequests::Finish(const std::string& conversation, const std::string& id) {
  const std::lock_guard lock(mutex_);
  requests_.erase({conversation, id});
}

void RunningRequests::Cancel(const std::string& conversation, const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = requests_.find({conversation, id});
  if (found != requests_.end()) found->second->Cancel();
}

void RunningRequests::CancelConversation(const std::string& conversation) {
  const std::lock_guard lock(mutex_);
  for (auto request = requests_.lower_bound({conversation, ""});
       request != requests_.end() && request->first.first == conversation; ++request) {
    request->second->Cancel();
  }
}

// One request on its way to an answer.
struct McpService::Request {
  json_rpc::RpcMessage rpc;
  Era era = Era::kHandshake;
  Caller caller;
  std::string conversation;
  bool over_http = false;
  bool knows_links = true;
  bool can_be_asked = false;  // for a program's input
  std::string traceparent;    // of its HTTP request, if any
  std::shared_ptr<Cancellation> peer_gone;
  std::shared_ptr<Reply> reply;

  // Only for a tool call.
  Json progress_token;                         // null: the client did not request progress
  std::shared_ptr<Cancellation> cancellation;  // null: the tool needs no worker
  // Bytes announced so far: the value of `progress`. While the call is waiting, before any output,
  // it is below 1.
  uint64_t announced = 0;
  int statuses = 0;

  void Announce(std::string_view output) {
    announced += output.size();
    Notify(std::to_string(announced), output);
  }

  void AnnounceStatus(std::string_view status) {
    const std::string thousandths = std::to_string(1000 + std::min(++statuses, 999));
    Notify("0." + thousandths.substr(1), status);
  }

  void Notify(const std::string& progress, std::string_view message) {
    reply->Notify(json_rpc::NotificationText("notifications/progress",
                                             R"({"progressToken":)" + progress_token.dump() +
                                                 R"(,"progress":)" + progress + R"(,"message":)" +
                                                 json_rpc::JsonString(message) + "}"));
  }
};

McpService::McpService(const ServerIdentity& identity, std::vector<std::unique_ptr<Tool>> tools,
                       Calls& calls, ResourceStore* resources)
    : tools_(std::move(tools)),
      results_(identity, tools_, resources != nullptr),
      calls_(calls),
      resources_(resources) {}

void McpService::Handle(IncomingMessage message, std::shared_ptr<Reply> reply) {
  std::variant<json_rpc::RpcMessage, json_rpc::RpcRefusal> parsed =
      json_rpc::ParseMessage(message.text);
  if (const auto* refusal = std::get_if<json_rpc::RpcRefusal>(&parsed)) {
    return reply->Finish(Failure(refusal->id, refusal->error, Answer::Kind::kBadRequest));
  }
  auto& rpc = std::get<json_rpc::RpcMessage>(parsed);
  if (rpc.kind == json_rpc::RpcMessage::Kind::kResponse) {
    if (rpc.id.is_number_unsigned()) {
      (void)lines_.Answer(Owned(message.caller, message.conversation), rpc.id.get<uint64_t>(),
                          LineIn(rpc.result));
    }
    return reply->Finish({Answer::Kind::kAccepted});
  }
  const std::variant<Era, json_rpc::RpcError> era = JudgeEnvelope(rpc, message.headers);
  if (const auto* error = std::get_if<json_rpc::RpcError>(&era)) {
    return reply->Finish(Failure(rpc.id, *error, Answer::Kind::kBadRequest));
  }
  const bool over_http = message.headers.has_value();
  const bool stateless = std::get<Era>(era) == Era::kStateless;
  if (over_http && stateless) message.conversation.clear();
  if (over_http && !message.conversation.empty() &&
      !conversations_.IsValid(message.caller.name, message.conversation)) {
    return reply->Finish(Failure(
        rpc.id,
        {json_rpc::kInvalidRequest, "this session has ended: start a new one with initialize", {}},
        Answer::Kind::kUnknownConversation));
  }
  const bool can_be_asked =
      !stateless && message.takes_notifications &&
      (over_http ? Conversations::CanBeAsked(message.conversation) : stdio_can_be_asked_.load());
  message.conversation = Owned(message.caller, message.conversation);
  if (rpc.kind == json_rpc::RpcMessage::Kind::kNotification) {
    Notified(rpc, message.conversation);
    return reply->Finish({Answer::Kind::kAccepted});
  }
  auto request = std::make_shared<Request>();
  request->rpc = std::move(rpc);
  request->era = std::get<Era>(era);
  request->caller = std::move(message.caller);
  request->conversation = std::move(message.conversation);
  request->over_http = over_http;
  request->can_be_asked = can_be_asked;
  if (over_http) request->traceparent = message.headers->traceparent.value_or("");
  // Clients of revisions that predate the header do not send it.
  request->knows_links =
      stateless || (over_http ? message.headers->protocol_version.value_or("") >= kFirstWithLinks
                              : stdio_knows_links_.load());
  request->peer_gone = std::move(message.peer_gone);
  request->reply = std::move(reply);
  Answer(std::move(request));
}

bool McpService::End(const Caller& caller, const std::string& conversation) {
  running_.CancelConversation(Owned(caller, conversation));
  return conversations_.End(caller.name, conversation);
}

void McpService::Notified(const json_rpc::RpcMessage& message, const std::string& conversation) {
  if (message.method != "notifications/cancelled" || conversation.empty()) return;
  running_.Cancel(conversation, Member(message.params, "requestId").dump());
}

void McpService::Answer(std::shared_ptr<Request> request) {
  const std::string& method = request->rpc.method;
  const Json& id = request->rpc.id;
  const bool stateless = request->era == Era::kStateless;
  if (method == "tools/call") return CallTool(std::move(request));
  if (method == "tools/list") {
    if (!Member(request->rpc.params, "cursor").is_null()) {
      return request->reply->Finish(Failure(
          id, {json_rpc::kInvalidParams, "unknown cursor: the list of tools has one page", {}}));
    }
    return request->reply->Finish(ResultOf(id, results_.ToolList(request->era)));
  }
  if (stateless && method == "server/discover") {
    return request->reply->Finish(ResultOf(id, results_.Discover()));
  }
  if (!stateless && method == "ping") return request->reply->Finish(ResultOf(id, "{}"));
  if (!stateless && method == "initialize") return Initialize(*request);
  if (AnswerResources(*request)) return;
  // In earlier eras a 404 means that the session has ended.
  request->reply->Finish(
      Failure(id, {json_rpc::kMethodNotFound, "unknown method " + core::Quoted(method), {}},
              stateless ? Answer::Kind::kUnknownMethod : Answer::Kind::kResult));
}

void McpService::Initialize(Request& request) {
  const Json& params = request.rpc.params;
  const Json revision = Member(params, "protocolVersion");
  if (!revision.is_string()) {
    return request.reply->Finish(Failure(
        request.rpc.id, {json_rpc::kInvalidParams, "params.protocolVersion must be a string", {}}));
  }
  for (const char* key : {"capabilities", "clientInfo"}) {
    if (!Member(params, key).is_null() && !params[key].is_object()) {
      return request.reply->Finish(Failure(
          request.rpc.id,
          {json_rpc::kInvalidParams, std::string("params.") + key + " must be an object", {}}));
    }
  }
  const auto& requested = revision.get_ref<const std::string&>();
  const bool can_be_asked = CanBeAsked(Member(params, "capabilities"));
  if (!request.over_http) {
    stdio_can_be_asked_ = can_be_asked;
    stdio_knows_links_ = !IsHandshakeRevision(requested) || requested >= kFirstWithLinks;
  }
  belljar::server::Answer answer = ResultOf(request.rpc.id, results_.Initialize(requested));
  if (request.over_http) answer.conversation = Conversations::NewName(can_be_asked);
  request.reply->Finish(std::move(answer));
}

bool McpService::AnswerResources(Request& request) {
  if (!resources_) return false;
  const std::string& method = request.rpc.method;
  if (method == "resources/read") {
    ReadResource(request);
    return true;
  }
  const bool is_list = method == "resources/list";
  if (!is_list && method != "resources/templates/list") return false;
  if (!Member(request.rpc.params, "cursor").is_null()) {
    request.reply->Finish(Failure(
        request.rpc.id, {json_rpc::kInvalidParams, "unknown cursor: the list has one page", {}}));
    return true;
  }
  request.reply->Finish(ResultOf(request.rpc.id, is_list
                                                     ? results_.ResourceList(request.era)
                                                     : results_.ResourceTemplateList(request.era)));
  return true;
}

void McpService::ReadResource(Request& request) {
  const Json uri = Member(request.rpc.params, "uri");
  if (!uri.is_string()) {
    return request.reply->Finish(
        Failure(request.rpc.id,
                {json_rpc::kInvalidParams, "params.uri must be the URI of a resource", {}}));
  }
  const auto& text = uri.get_ref<const std::string&>();
  const core::Result<std::optional<ResourcePiece>> piece = ParsePiece(text);
  if (!piece) {
    return request.reply->Finish(
        Failure(request.rpc.id, {json_rpc::kInvalidParams, piece.error().ToString(), {}}));
  }
  std::optional<Resource> found =
      resources_->Find(request.caller.name, *piece ? (*piece)->whole_uri : text);
  if (found && *piece) found = PieceOf(*found, **piece, text);
  if (found) {
    return request.reply->Finish(
        ResultOf(request.rpc.id, results_.ResourceContents(request.era, *found)));
  }
  const int code = request.era == Era::kStateless ? json_rpc::kInvalidParams : kResourceNotFound;
  request.reply->Finish(
      Failure(request.rpc.id,
              {code,
               "unknown resource " + core::Quoted(text) +
                   ": what a call left can be read by its caller for a limited time. Call again",
               {{"uri", uri}}}));
}

Tool* McpService::FindTool(const std::string& name) const {
  for (const auto& tool : tools_) {
    if (tool->description().name == name) return tool.get();
  }
  return nullptr;
}

void McpService::CallTool(std::shared_ptr<Request> request) {
  Json& params = request->rpc.params;
  const Json& id = request->rpc.id;
  const auto invalid = [&](std::string message) {
    request->reply->Finish(Failure(id, {json_rpc::kInvalidParams, std::move(message), {}}));
  };
  const Json name = Member(params, "name");
  if (!name.is_string()) return invalid("params.name must be the name of a tool");
  Tool* const tool = FindTool(name.get_ref<const std::string&>());
  if (tool == nullptr) {
    std::vector<std::string> known;
    for (const auto& each : tools_) known.push_back(each->description().name);
    return invalid("unknown tool " + core::Quoted(name.get_ref<const std::string&>()) +
                   host::Suggestion(name.get_ref<const std::string&>(), known));
  }
  const Json meta = Member(params, "_meta");
  const Json token = Member(meta, "progressToken");
  if (!token.is_null() && !json_rpc::IsId(token)) {
    return invalid("params._meta.progressToken must be an integer or a string of at most " +
                   std::to_string(json_rpc::kMaxIdBytes) + " bytes");
  }
  ToolCall call;
  if (params.contains("arguments")) call.arguments = std::move(params["arguments"]);
  call.caller = request->caller;
  // The protocol's own place for it, which proxies between client and server leave alone.
  const Json traceparent = Member(meta, "traceparent");
  call.traceparent =
      traceparent.is_string() ? traceparent.get<std::string>() : request->traceparent;
  if (!token.is_null()) {
    request->progress_token = token;
    call.on_output = [request](std::string_view output) { request->Announce(output); };
    call.on_status = [request](std::string_view status) { request->AnnounceStatus(status); };
  }
  if (tool->UsesWorker(call)) {
    // In the stateless era a client that disconnects cancels its call. In an earlier era it may
    // only have lost its connection, which is not a request to cancel; but streams cannot be
    // resumed here, so the answer could never be delivered, and the run is cancelled too.
    request->cancellation =
        request->over_http ? request->peer_gone : std::make_shared<Cancellation>();
    call.cancellation = request->cancellation;
    if (request->can_be_asked) {
      call.ask_for_line = lines_.For(request->conversation, request->cancellation,
                                     [request](uint64_t question, const std::string& prompt) {
                                       request->reply->Notify(QuestionText(question, prompt));
                                     });
    }
    if (!running_.Begin(request->conversation, id.dump(), request->cancellation)) {
      return request->reply->Finish(
          Failure(id, {json_rpc::kInvalidRequest,
                       "the id " + id.dump() + " belongs to a call that is still running",
                       {}}));
    }
  }
  const auto refusal =
      calls_.Start(*tool, std::move(call), [this, request](const core::Result<ToolResult>& result) {
        if (request->cancellation) running_.Finish(request->conversation, request->rpc.id.dump());
        request->reply->Finish(AnswerOf(*request, result));
      });
  if (!refusal) return;
  running_.Finish(request->conversation, id.dump());
  request->reply->Finish(Refuse(id, *refusal));
}

belljar::server::Answer McpService::AnswerOf(const Request& request,
                                             const core::Result<ToolResult>& result) const {
  if (request.cancellation && request.cancellation->cancelled()) {
    return {belljar::server::Answer::Kind::kWithdrawn};
  }
  const Json& id = request.rpc.id;
  if (!result) return Failure(id, {json_rpc::kInternalError, result.error().ToString(), {}});
  return ResultOf(id, results_.Call({request.era, request.knows_links}, *result));
}

}  // namespace belljar::server::mcp
