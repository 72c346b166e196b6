// The messages between the processes.
//
//   host ──start message (memfd, seal/start_message.h)──▶ zygote ──"ready" or an error──▶ host once
//   host ──SpawnMessage + {socket, capture}──▶ zygote ──SpawnReply + {pidfd}──▶ host   per worker;
//                                               a zygote for a single run does not reply: it
//                                               becomes the worker. For a session, a third
//                                               descriptor is the socket of its init, and the
//                                               reply is about that. The last one may be a
//                                               detached mount (open_tree), its workspace
//   host ──RequestHeader, metadata, inputs, source, stdin──▶ worker ──WorkerSignal──▶ host  once
//   each worker ──WorkerSignal kCall, name, arguments──▶ host ──size (uint32), answer──▶ worker
//                                               during the run, for each call of one of the
//                                               request's functions, one at a time; of one that
//                                               is awaited, for its beginning and for its end
//   host ──SessionOrder──▶ worker of a session ──WorkerSignal──▶ host   until it is killed; after
//                                               kCell or kAsk comes a request as above
//   host ──InitOrder + {pidfd}──▶ init of a session ──InitReply──▶ host     likewise; a first
//                                               InitReply says that it is sealed
//
// Host and zygote talk over SOCK_SEQPACKET, host and worker over SOCK_STREAM. All structures have
// the same binary layout on both sides (one build, one machine); the host checks every field it
// receives.
#ifndef BELLJAR_ENGINE_CORE_WIRE_H_
#define BELLJAR_ENGINE_CORE_WIRE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace belljar::core {

// Descriptor of the control socket in a new zygote.
inline constexpr int kZygoteControlFd = 3;
// In a zygote that runs as the interpreter's own program: belljar-preload.so. The dynamic linker
// gets its /proc path, because the real path may contain a space or a colon, which separate entries
// in LD_PRELOAD.
inline constexpr int kZygotePreloadFd = 4;
// For ld.so: functions are looked up once, in the zygote, instead of on their first call in each
// worker (ld.so(8)). The zygote removes it from its environment.
inline constexpr char kZygoteBindsNow[] = "LD_BIND_NOW=1";
inline constexpr char kZygotePreload[] = "LD_PRELOAD=/proc/self/fd/4";

// The zygote answers the start message with one text message: this word, or an error.
inline constexpr std::string_view kZygoteReady = "ready";
inline constexpr size_t kMaxZygoteAnswer = 16 * 1024;

struct SpawnMessage {
  enum Kind : uint32_t { kRun, kSession };
  uint32_t magic = 0x424a5350;  // "BJSP"
  uint32_t kind = kRun;
  uint32_t has_workspace = 0;
};

struct SpawnReply {
  int32_t error_number = 0;
  int32_t pid = 0;  // in the zygote's PID namespace, which is the host's
};

struct RequestHeader {
  uint32_t magic = 0x424a5251;  // "BJRQ"
  uint32_t metadata_size = 0;   // JSON for the Python half, or a ProgramRequest
  uint64_t inputs_size = 0;     // JSON: variable -> value
  uint64_t modules_size = 0;    // FileHeaders, each followed by a path and a content
  uint64_t source_size = 0;
  uint64_t stdin_size = 0;  // plus one; 0: no standard input
  uint64_t memory_limit = 0;
  uint64_t output_limit = 0;
  uint64_t file_size_limit = 0;
  uint64_t cpu_limit_seconds = 0;
  uint64_t compile_memory_limit = 0;  // of a language that is compiled
  uint64_t compile_cpu_limit_seconds = 0;
};

// One of the program's modules, in a profile without a workspace.
struct FileHeader {
  uint64_t path_size = 0;
  uint64_t content_size = 0;
};

struct WorkerSignal {
  enum Kind : uint32_t {
    // Waiting for its request. value: the worker's own report of its seal (SelfReport). Attached:
    // the descriptors of its resources that the plan has: workspace, egress proxy, terminals.
    kSealed = 0x424a4f4b,
    kFailed = 0x424a4641,  // a step of the seal failed: step and errno
    kDone = 0x424a444e,    // the report is in the capture region
    kCall = 0x424a434c,    // step: size of the name; value: size of the arguments (JSON)
    // Instead of kDone, from the worker of a zygote that has omitted modules: it needs one of them.
    kStartOver = 0x424a534e,
    // Sessions only. From a worker that was to copy itself; value: 0, or the errno of the failure.
    // From the copy, as its first word: it is waiting.
    kCopied = 0x424a4350,
    kAwake = 0x424a4157,  // after kWake and kBegin: ready for cells
  };
  uint32_t kind = 0;
  uint32_t step = 0;
  uint32_t value = 0;
};

// Orders to a session's worker.
struct SessionOrder {
  enum Kind : uint32_t {
    kCell = 0x4345,  // run a request; a worker that is awake
    kAsk = 0x4153,   // the same, for a question (runner/questions.py)
    kCopy = 0x4350,  // clone itself. Attached: the copy's socket
    // The worker of a run becomes that of a session that is not copied; before anything else.
    kBegin = 0x4247,
    kWake = 0x5741,  // a waiting copy becomes ready for cells. Attached: its capture memory
  };
  uint32_t magic = 0x424a534f;  // "BJSO"
  uint32_t kind = kCell;
  uint32_t reseeds = 0;  // kWake: whether its random number generators get new seeds
  // kCopy: pages that the original then writes to, so that the next cell need not. That many
  // PageRanges follow; 0: those that the zygote knows.
  uint32_t hot_ranges = 0;
  // kBegin: limits of the session, below those that the worker has been sealed with.
  uint64_t memory_limit = 0;
  uint64_t file_size_limit = 0;
};

struct PageRange {
  uint64_t begin = 0;  // address
  uint64_t size = 0;   // bytes; both are multiples of the page size
};
inline constexpr size_t kMaxHotRanges = 1024;

// Orders to a session's init, about the child whose pidfd is attached.
struct InitOrder {
  enum Kind : uint32_t {
    kRecognise,  // whether it is the init's child: error_number 0 or ECHILD
    kReap,       // waits for its end
  };
  uint32_t magic = 0x424a494f;  // "BJIO"
  uint32_t kind = kRecognise;
};

struct InitReply {
  int32_t error_number = 0;
  int32_t code = 0;    // of siginfo_t: CLD_EXITED, …
  int32_t status = 0;  // exit code or signal
  int32_t padding = 0;
  int64_t user_time = 0;    // microseconds
  int64_t system_time = 0;  // microseconds
  int64_t max_rss = 0;      // KiB
};

inline constexpr size_t kMaxFunctionName =
    257;  // 256, and what may stand before it (host/request.h)
// A value is nested at most 64 levels deep (plain_data.py) inside the list or object of the
// arguments.
inline constexpr size_t kMaxCallDepth = 72;

template <typename T>
std::string_view AsBytes(const T& message) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(&message), sizeof message};
}

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_WIRE_H_
