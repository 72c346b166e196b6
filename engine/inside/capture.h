// The worker's side of the capture region, and the Python objects that write into it.
//
// The region is a global that is set after clone. Without a region (in the zygote) output is
// dropped.
#ifndef BELLJAR_ENGINE_INSIDE_CAPTURE_H_
#define BELLJAR_ENGINE_INSIDE_CAPTURE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/core/capture_layout.h"
#include "engine/core/mapping.h"
#include "engine/core/result.h"

namespace belljar::inside {

// Worker. Takes ownership of the mapping.
void SetCapture(core::Mapping region, core::CaptureLayout layout);

// In a copy of a session's worker, until it sets its own region. Output is dropped until then.
void ReleaseCapture();

// How many bytes of stdout and stderr this request may keep; at most the layout's capacity. Further
// bytes are only counted.
void SetOutputLimit(uint64_t bytes);

enum class CaptureStreamKind { kStdout, kStderr };
void WriteOutput(CaptureStreamKind kind, std::string_view bytes);

// What has been written since `position`, of which at most the last 1,000 bytes; `position` is then
// the end.
std::string OutputSince(CaptureStreamKind kind, uint64_t& position);

// False if it does not fit; nothing is written then.
bool WriteReport(std::string_view report);

// Appends to the artifacts and sets `offset` to where it begins. False if it does not fit; nothing
// is written then.
bool WriteArtifact(std::string_view bytes, uint64_t* offset);

// Records a system call that the filter refused. Async-signal-safe.
void RecordDeniedSyscall(uint32_t number);

// The compile step of a program (core/capture_layout.h). All output so far is the compiler's.
void RecordCompiling();
void RecordCompiled(uint64_t wall_microseconds, uint64_t cpu_microseconds, uint64_t max_rss_bytes);

// Async-signal-safe.
void RecordPlaces(std::string_view places);

// Ends the worker after an allocation beyond its limit, so that a guest cannot catch MemoryError
// and continue. Does nothing in the zygote. Called by the allocator.
void EndForMemory();

// Exit code after EndForMemory, which also sets a flag in the region.
inline constexpr int kOutOfMemoryExit = 86;

// Installs text streams over the capture as sys.stdout and sys.stderr. Zygote, with Python up.
core::Result<void> InstallCaptureStreams();

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_CAPTURE_H_
