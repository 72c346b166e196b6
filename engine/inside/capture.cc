#include "engine/inside/capture.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace belljar::inside {
namespace {

struct Capture {
  core::Mapping region;
  core::CaptureLayout layout;
  uint64_t output_limit = 0;
  core::CaptureHeader* header = nullptr;
};

// Never destroyed: a worker ends by being killed, and the zygote has no capture.
Capture& TheCapture() {
  static Capture* capture = new Capture;
  return *capture;
}

// Cached, because the signal handler and the allocator must not use a function-local static.
core::CaptureHeader* g_header = nullptr;

}  // namespace

void SetCapture(core::Mapping region, core::CaptureLayout layout) {
  Capture& capture = TheCapture();
  capture.region = std::move(region);
  capture.layout = layout;
  capture.output_limit = layout.output.count;
  capture.header = reinterpret_cast<core::CaptureHeader*>(capture.region.data());
  g_header = capture.header;
  // Touch the first page of each part in advance, so that a short run takes no page faults for
  // them.
  for (const size_t offset : {size_t{0}, layout.stdout_offset(), layout.report_offset()}) {
    capture.region.data()[offset] = std::byte{0};
  }
}

void ReleaseCapture() {
  g_header = nullptr;
  TheCapture().header = nullptr;
  TheCapture().region = {};
}

void SetOutputLimit(uint64_t bytes) {
  TheCapture().output_limit = std::min(bytes, TheCapture().layout.output.count);
}

void WriteOutput(CaptureStreamKind kind, std::string_view bytes) {
  const Capture& capture = TheCapture();
  if (!capture.header) return;
  const bool is_stdout = kind == CaptureStreamKind::kStdout;
  std::atomic<uint64_t>& size =
      is_stdout ? capture.header->stdout_size : capture.header->stderr_size;
  std::atomic<uint64_t>& dropped =
      is_stdout ? capture.header->stdout_dropped : capture.header->stderr_dropped;
  const size_t offset = is_stdout ? capture.layout.stdout_offset() : capture.layout.stderr_offset();
  const uint64_t used = size.load(std::memory_order_relaxed);
  const uint64_t room = capture.output_limit - std::min(used, capture.output_limit);
  const uint64_t kept = std::min<uint64_t>(bytes.size(), room);
  memcpy(capture.region.data() + offset + used, bytes.data(), kept);
  // Released after the bytes, so that a streaming host never reads ahead of them.
  size.store(used + kept, std::memory_order_release);
  if (kept < bytes.size()) dropped.fetch_add(bytes.size() - kept, std::memory_order_relaxed);
}

std::string OutputSince(CaptureStreamKind kind, uint64_t& position) {
  constexpr uint64_t kMost = 1000;
  const Capture& capture = TheCapture();
  if (!capture.header) return {};
  const bool is_stdout = kind == CaptureStreamKind::kStdout;
  const uint64_t size = (is_stdout ? capture.header->stdout_size : capture.header->stderr_size)
                            .load(std::memory_order_relaxed);
  const uint64_t from = std::min(std::max(position, size - std::min(size, kMost)), size);
  position = size;
  const size_t offset = is_stdout ? capture.layout.stdout_offset() : capture.layout.stderr_offset();
  return {reinterpret_cast<const char*>(capture.region.data()) + offset + from, size - from};
}

bool WriteReport(std::string_view report) {
  const Capture& capture = TheCapture();
  if (!capture.header || report.size() > capture.layout.report.count) return false;
  memcpy(capture.region.data() + capture.layout.report_offset(), report.data(), report.size());
  capture.header->report_size.store(report.size(), std::memory_order_release);
  return true;
}

bool WriteArtifact(std::string_view bytes, uint64_t* offset) {
  const Capture& capture = TheCapture();
  if (!capture.header) return false;
  const uint64_t used = capture.header->artifacts_size.load(std::memory_order_relaxed);
  const uint64_t room = capture.layout.artifacts.count;
  if (used > room || bytes.size() > room - used) return false;
  memcpy(capture.region.data() + capture.layout.artifacts_offset() + used, bytes.data(),
         bytes.size());
  capture.header->artifacts_size.store(used + bytes.size(), std::memory_order_release);
  *offset = used;
  return true;
}

void RecordDeniedSyscall(uint32_t number) {
  if (!g_header) return;
  const uint32_t used =
      std::min<uint32_t>(g_header->denied_count.load(), core::kMaxRecordedSyscalls);
  for (uint32_t i = 0; i < used; ++i) {
    if (g_header->denied[i].number.load() == number) {
      g_header->denied[i].count.fetch_add(1);
      return;
    }
  }
  const uint32_t slot = g_header->denied_count.fetch_add(1);
  if (slot >= core::kMaxRecordedSyscalls) return;
  g_header->denied[slot].number.store(number);
  g_header->denied[slot].count.store(1);
}

void RecordCompiling() {
  if (g_header) g_header->compile.step.store(core::CompileRecord::kCompiling);
}

void RecordCompiled(uint64_t wall_microseconds, uint64_t cpu_microseconds, uint64_t max_rss_bytes) {
  if (!g_header) return;
  core::CompileRecord& record = g_header->compile;
  record.wall_microseconds.store(wall_microseconds);
  record.cpu_microseconds.store(cpu_microseconds);
  record.max_rss_bytes.store(max_rss_bytes);
  record.stdout_size.store(g_header->stdout_size.load());
  record.stderr_size.store(g_header->stderr_size.load());
  record.step.store(core::CompileRecord::kCompiled, std::memory_order_release);
}

void RecordPlaces(std::string_view places) {
  if (!g_header || places.size() > sizeof g_header->places) return;
  memcpy(g_header->places, places.data(), places.size());
  g_header->places_size.store(static_cast<uint32_t>(places.size()), std::memory_order_release);
}

void EndForMemory() {
  if (!g_header) return;
  g_header->out_of_memory.store(1);
  // A worker is init of its PID namespace, so SIGKILL to itself would have no effect.
  _exit(kOutOfMemoryExit);
}

}  // namespace belljar::inside
