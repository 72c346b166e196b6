// Metrics: what the server has done and how it is, as Prometheus reads it (text format 0.0.4).
//
//   Metrics metrics({.version = "0.1.0", .python = "3.11.2"});
//   metrics.ReadFrom({.calls = [&] { return queue.counters(); }, …});   // before the first Text
//   metrics.Called(record);                 // tools, through CallObserver
//   metrics.HttpAnswered(200);              // the HTTP transport
//   std::string body = metrics.Text();      // GET /metrics, content type kMetricsContentType
//
// Everything may be called by any thread, but for ReadFrom.
//
// No label takes a value that a guest or a caller is free to choose: tools and profiles are the
// server's, tokens the operator's, layers and actions the engine's. Should one ever slip through,
// the number of series still has an end: past it all others are counted under "other".
#ifndef BELLJAR_SERVER_OPERATIONS_METRICS_H_
#define BELLJAR_SERVER_OPERATIONS_METRICS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/core/call_queue.h"
#include "server/core/observer.h"

namespace belljar::server::operations {

inline constexpr char kMetricsContentType[] = "text/plain; version=0.0.4; charset=utf-8";

struct BuildInfo {
  std::string version;  // Belljar's
  std::string python;   // the embedded interpreter's
};

struct SpareGauge {
  std::string profile;
  size_t waiting = 0;
  size_t wanted = 0;
};

// Asked at each scrape, on its thread. An empty one: the figure is left out.
struct MetricsSources {
  std::function<CallQueue::Counters()> calls;
  std::function<std::vector<SpareGauge>()> spares;
  std::function<size_t()> http_connections;
};

class Metrics : public CallObserver {
 public:
  explicit Metrics(const BuildInfo& build);
  ~Metrics() override;

  // Precondition: nothing else has been called yet.
  void ReadFrom(MetricsSources sources);

  void Called(const CallRecord& record) override;
  void HttpAnswered(int code);
  void AuthenticationFailed();

  // Gathers everything; tens of microseconds.
  std::string Text() const;

 private:
  struct Families;
  const std::unique_ptr<Families> families_;
  MetricsSources sources_;
};

}  // namespace belljar::server::operations

#endif  // BELLJAR_SERVER_OPERATIONS_METRICS_H_
