// StdioTransport: messages of one client, a line each, on two descriptors. What is written there is
// protocol and nothing else.
//
//   StdioTransport transport(STDIN_FILENO, STDOUT_FILENO, handler);
//   transport.Run(stop_fd);      // until the client closes its end, or stop_fd is readable
#ifndef BELLJAR_SERVER_STDIO_STDIO_TRANSPORT_H_
#define BELLJAR_SERVER_STDIO_STDIO_TRANSPORT_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "engine/core/bytes.h"
#include "engine/core/result.h"
#include "server/core/exchange.h"

namespace belljar::server::stdio {

class StdioTransport {
 public:
  enum class End {
    kPeer,     // the client has closed its end, or cannot be written to any more
    kStopped,  // stop_fd
  };

  // A longer line is answered with an error and skipped.
  static constexpr core::Bytes kMaxLine = core::Bytes::Mebi(20);

  // The descriptors are borrowed. `handler` outlives this.
  StdioTransport(int input, int output, MessageHandler& handler);
  ~StdioTransport();

  // Reads and hands over until the end. At the client's end every call of theirs is cancelled.
  // Replies may still come, on any thread, until this is destroyed; later ones go nowhere.
  core::Result<End> Run(int stop_fd);

 private:
  class Output;
  class LineReply;

  // Takes what `bytes` has of lines; keeps the rest for later.
  void Take(std::string_view bytes);
  void HandLine(std::string line);

  const int input_;
  MessageHandler& handler_;
  const std::shared_ptr<Output> output_;
  std::string line_;
  bool skipping_ = false;
};

}  // namespace belljar::server::stdio

#endif  // BELLJAR_SERVER_STDIO_STDIO_TRANSPORT_H_
