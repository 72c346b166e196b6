// Exchange: the interface between a transport and the handler of its messages. A message is
// received text with a reply object for its answer. The transport does not interpret the text, and
// the handler does not know how it arrived.
//
//   transport:  handler.Handle(std::move(message), reply);          // does not block
//   handler:    reply->Notify(progress); … reply->Finish({Answer::Kind::kResult, text});
#ifndef BELLJAR_SERVER_CORE_EXCHANGE_H_
#define BELLJAR_SERVER_CORE_EXCHANGE_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "server/core/caller.h"
#include "server/core/cancellation.h"

namespace belljar::server {

struct Answer {
  enum class Kind {
    kResult,         // `text` answers the message: a result, or an error of the call
    kAccepted,       // the message expects no answer (a notification, a response); `text` is empty
    kWithdrawn,      // cancelled by the client, which expects no answer; `text` is empty
    kBadRequest,     // `text` is an error: the message itself is invalid
    kUnknownMethod,  // `text` is an error: unknown method
    kUnknownConversation,  // `text` is an error: ended or unknown conversation
  };
  Kind kind = Kind::kResult;
  std::string text;                                 // one JSON text without a newline, or empty
  std::optional<std::chrono::seconds> retry_after;  // overloaded: when to retry
  // Name of the conversation that the transport must send to the client
  // (IncomingMessage::conversation); empty: none.
  std::string conversation;
};

// Replies to one message. Callable from any thread, also after the connection has closed.
class Reply {
 public:
  virtual ~Reply() = default;
  // A notification before the answer: one JSON text without a newline. Never blocks. Not to be
  // called after Finish.
  virtual void Notify(std::string text) = 0;
  // Exactly once.
  virtual void Finish(Answer answer) = 0;
};

// HTTP headers that describe the message or its trace; nullopt: the header was absent.
struct MessageHeaders {
  std::optional<std::string> protocol_version;  // MCP-Protocol-Version
  std::optional<std::string> method;            // Mcp-Method
  std::optional<std::string> name;              // Mcp-Name
  std::optional<std::string> traceparent = {};
};

struct IncomingMessage {
  std::string text;  // as received: arbitrary bytes
  Caller caller;
  // Messages of one conversation can refer to each other's requests. Over stdio there is only one;
  // over HTTP it is the Mcp-Session-Id of earlier eras, or empty.
  std::string conversation;
  // HTTP only: values that the protocol requires to match the text.
  std::optional<MessageHeaders> headers;
  bool takes_notifications = true;  // false: the transport drops them
  // Cancelled by the transport once the sender can no longer be answered. Never null.
  std::shared_ptr<Cancellation> peer_gone = std::make_shared<Cancellation>();
};

class MessageHandler {
 public:
  virtual ~MessageHandler() = default;
  // Handles one message. Blocks only while parsing it; any thread.
  virtual void Handle(IncomingMessage message, std::shared_ptr<Reply> reply) = 0;
  // Ends this conversation of this caller: cancels its calls and invalidates its name. False: the
  // name was not valid. Other callers that use the same name have separate conversations, which are
  // not affected.
  virtual bool End(const Caller& caller, const std::string& conversation) = 0;
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_EXCHANGE_H_
