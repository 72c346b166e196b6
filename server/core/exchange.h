// Exchange: all that a transport and whoever answers its messages know of each other. A message is
// text that came in, with a way back for its answer; what the text says is no concern of a
// transport, and how it travelled no concern of whoever answers.
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
    kResult,         // `text` answers the message, be it a result or an error of the call
    kAccepted,       // the message wanted no answer (a notification, a response); `text` is empty
    kWithdrawn,      // cancelled: whoever asked does not want to hear of it; `text` is empty
    kBadRequest,     // `text` is an error: the message itself is wrong
    kUnknownMethod,  // `text` is an error: there is no such method
    kUnknownConversation,  // `text` is an error: the conversation is over, or never was
  };
  Kind kind = Kind::kResult;
  std::string text;                                 // one JSON text without a newline, or empty
  std::optional<std::chrono::seconds> retry_after;  // overloaded: when it is worth trying again
  // The transport shall give it to the client as the name of their conversation (exchange.h,
  // IncomingMessage::conversation); empty: nothing to give.
  std::string conversation;
};

// The way back of one message. Any thread may call; the connection may be long gone.
class Reply {
 public:
  virtual ~Reply() = default;
  // Something on the way to the answer: one JSON text without a newline. Never blocks. Nothing
  // after Finish.
  virtual void Notify(std::string text) = 0;
  // Exactly once.
  virtual void Finish(Answer answer) = 0;
};

// What an HTTP request says of its message beside the body; nullopt: there was no such header.
struct MessageHeaders {
  std::optional<std::string> protocol_version;  // MCP-Protocol-Version
  std::optional<std::string> method;            // Mcp-Method
  std::optional<std::string> name;              // Mcp-Name
};

struct IncomingMessage {
  std::string text;  // as it came: any bytes
  Caller caller;
  // Messages of one conversation can name each other's requests. Over stdio there is one; over HTTP
  // it is the Mcp-Session-Id of earlier eras, or empty.
  std::string conversation;
  // Only over HTTP: what the protocol wants compared with the text.
  std::optional<MessageHeaders> headers;
  // Cancelled by the transport once whoever sent this can no longer be answered. Never null.
  std::shared_ptr<Cancellation> peer_gone = std::make_shared<Cancellation>();
};

class MessageHandler {
 public:
  virtual ~MessageHandler() = default;
  // Takes one message. Does not block for longer than reading it takes; any thread.
  virtual void Handle(IncomingMessage message, std::shared_ptr<Reply> reply) = 0;
  // That conversation of that caller is over: its calls are cancelled, its name is not valid any
  // more. False: it was not valid before. Others who know the name have a conversation of their own
  // by it, and nothing of theirs ends.
  virtual bool End(const Caller& caller, const std::string& conversation) = 0;
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_EXCHANGE_H_
