// The worker's side of the capture region, and the Python objects that write into it.
//
// One process, one capture: a worker is single-use, so the region is a global that is set once,
// after clone. Without a region (in the zygote) what is written is dropped.
#ifndef BELLJAR_ENGINE_INSIDE_CAPTURE_H_
#define BELLJAR_ENGINE_INSIDE_CAPTURE_H_

#include <cstdint>
#include <string_view>

#include "engine/core/capture_layout.h"
#include "engine/core/mapping.h"
#include "engine/core/result.h"

namespace belljar::inside {

// Worker, once. Takes the mapping for the life of the process.
void SetCapture(core::Mapping region, core::CaptureLayout layout);

// Bytes of stdout and stderr that this request may keep; at most the layout's. The rest is counted.
void SetOutputLimit(uint64_t bytes);

enum class CaptureStreamKind { kStdout, kStderr };
void WriteOutput(CaptureStreamKind kind, std::string_view bytes);

// False when it does not fit; then nothing is written.
bool WriteReport(std::string_view report);

// Appends to the artifacts, and says where it begins there. False when it does not fit; then
// nothing is written.
bool WriteArtifact(std::string_view bytes, uint64_t* offset);

// Notes a system call that the filter refused. Async-signal-safe.
void RecordDeniedSyscall(uint32_t number);

// Ends the worker for having asked for memory past its limit: a limit is a kill, so a guest cannot
// catch MemoryError and go on. Does nothing in the zygote. Called by the allocator.
void EndForMemory();

// Exit code of a worker ended by EndForMemory; the region says so too.
inline constexpr int kOutOfMemoryExit = 86;

// Puts text streams over the capture into sys.stdout and sys.stderr. Zygote, with Python up.
core::Result<void> InstallCaptureStreams();

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_CAPTURE_H_
