// The traceparent header of W3C Trace Context, which continues a client's trace.
#ifndef BELLJAR_SERVER_EVENTS_TRACE_CONTEXT_H_
#define BELLJAR_SERVER_EVENTS_TRACE_CONTEXT_H_

#include <optional>
#include <string>
#include <string_view>

namespace belljar::server::events {

struct TraceContext {
  std::string trace_id;   // 32 hexadecimal digits
  std::string parent_id;  // 16; empty: this span is the first
  bool sampled = true;

  // nullopt: malformed, and treated as absent.
  static std::optional<TraceContext> Parse(std::string_view traceparent);
  static TraceContext New();
};

std::string NewSpanId();

}  // namespace belljar::server::events

#endif  // BELLJAR_SERVER_EVENTS_TRACE_CONTEXT_H_
