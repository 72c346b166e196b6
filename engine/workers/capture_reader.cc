#include "engine/workers/capture_reader.h"

#include <sys/mman.h>

#include <algorithm>

#include "engine/seal/seccomp.h"

namespace belljar::workers {
namespace {

// Smaller amounts cost nothing, and need not be faulted in again.
constexpr uint64_t kKeptWhenCleared = 64 * 1024;

}  // namespace

core::Result<CaptureReader> CaptureReader::Create(core::CaptureLayout layout) {
  CaptureReader reader;
  reader.layout_ = layout;
  core::Result<core::UniqueFd> memory = core::CreateSealedMemory("belljar-capture", layout.size());
  if (!memory) return memory.error();
  reader.memory_ = std::move(*memory);
  core::Result<core::Mapping> mapping = core::Mapping::Map(reader.memory_.get(), layout.size());
  if (!mapping) return mapping.error();
  reader.mapping_ = std::move(*mapping);
  return reader;
}

void CaptureReader::Clear() {
  core::CaptureHeader& own = header();
  const uint64_t used = own.stdout_size.load() + own.stderr_size.load() + own.report_size.load() +
                        own.artifacts_size.load();
  for (std::atomic<uint64_t>* word : {&own.stdout_size, &own.stdout_dropped, &own.stderr_size,
                                      &own.stderr_dropped, &own.report_size, &own.artifacts_size}) {
    word->store(0);
  }
  own.out_of_memory.store(0);
  own.places_size.store(0);
  own.compile.step.store(core::CompileRecord::kNone);
  own.denied_count.store(0);
  if (used <= kKeptWhenCleared) return;
  // If it fails, the pages are kept.
  (void)madvise(mapping_.data() + core::CaptureLayout::kHeaderSize,
                layout_.size() - core::CaptureLayout::kHeaderSize, MADV_REMOVE);
}

std::string CaptureReader::Copy(size_t offset, uint64_t from, uint64_t to) const {
  if (from >= to) return {};
  const char* start = reinterpret_cast<const char*>(mapping_.data()) + offset;
  return std::string(start + from, start + to);
}

std::string CaptureReader::StdoutSince(uint64_t from, uint64_t limit) const {
  const uint64_t size = header().stdout_size.load(std::memory_order_acquire);
  return Copy(layout_.stdout_offset(), from, std::min({size, limit, layout_.output.count}));
}

std::string CaptureReader::StderrSince(uint64_t from, uint64_t limit) const {
  const uint64_t size = header().stderr_size.load(std::memory_order_acquire);
  return Copy(layout_.stderr_offset(), from, std::min({size, limit, layout_.output.count}));
}

uint64_t CaptureReader::StdoutDropped() const { return header().stdout_dropped.load(); }
uint64_t CaptureReader::StderrDropped() const { return header().stderr_dropped.load(); }

std::string CaptureReader::Report(uint64_t limit) const {
  const uint64_t size = header().report_size.load(std::memory_order_acquire);
  return Copy(layout_.report_offset(), 0, std::min({size, limit, layout_.report.count}));
}

std::string CaptureReader::Artifacts() const {
  const uint64_t size = header().artifacts_size.load(std::memory_order_acquire);
  return Copy(layout_.artifacts_offset(), 0, std::min(size, layout_.artifacts.count));
}

std::optional<host::Compilation> CaptureReader::Compiled() const {
  const core::CompileRecord& record = header().compile;
  if (record.step.load(std::memory_order_acquire) != core::CompileRecord::kCompiled) {
    return std::nullopt;
  }
  const auto microseconds = [](const std::atomic<uint64_t>& word) {
    return std::chrono::microseconds(std::min<uint64_t>(word.load(), INT64_MAX));
  };
  host::Compilation compilation;
  compilation.stdout_bytes = record.stdout_size.load();
  compilation.stderr_bytes = record.stderr_size.load();
  compilation.usage = {microseconds(record.wall_microseconds),
                       microseconds(record.cpu_microseconds), record.max_rss_bytes.load()};
  return compilation;
}

bool CaptureReader::OutOfMemory() const { return header().out_of_memory.load() != 0; }

std::string CaptureReader::Places() const {
  const size_t size = header().places_size.load(std::memory_order_acquire);
  return {header().places, std::min(size, sizeof header().places)};
}

std::vector<host::SecurityEvent> CaptureReader::DeniedSyscalls() const {
  std::vector<host::SecurityEvent> events;
  const uint32_t used =
      std::min<uint32_t>(header().denied_count.load(), uint32_t{core::kMaxRecordedSyscalls});
  for (uint32_t i = 0; i < used; ++i) {
    const auto& denied = header().denied[i];
    events.push_back({"seccomp", "denied",
                      seal::SyscallName(static_cast<int>(denied.number.load())),
                      denied.count.load()});
  }
  return events;
}

}  // namespace belljar::workers
