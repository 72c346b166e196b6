// ProcessFigures: the standard process metrics of Prometheus client libraries. For this process
// only, without zygotes and workers.
#ifndef BELLJAR_SERVER_OPERATIONS_PROCESS_FIGURES_H_
#define BELLJAR_SERVER_OPERATIONS_PROCESS_FIGURES_H_

#include <cstdint>
#include <optional>

namespace belljar::server::operations {

// nullopt: not available (no /proc).
struct ProcessFigures {
  std::optional<double> cpu_seconds;
  std::optional<uint64_t> resident_bytes;
  std::optional<uint64_t> virtual_bytes;
  std::optional<uint64_t> open_fds;
  std::optional<uint64_t> max_fds;
  std::optional<double> start_time;  // seconds since 1970
};

ProcessFigures ReadProcessFigures();

}  // namespace belljar::server::operations

#endif  // BELLJAR_SERVER_OPERATIONS_PROCESS_FIGURES_H_
