// Neighbours: what one run has written, seeded, patched or cached, no other run of the same pool
// sees. The guests here have all of Python and ctypes: nothing but the process holds them.
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <filesystem>
#include <future>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "engine/installation/installation.h"
#include "engine/profiles/loader.h"
#include "tests/support/support.h"

namespace belljar::outside::neighbours_test {
namespace {

core::Profile AttackProfile() {
  const char* const file = BELLJAR_SOURCE_DIR "/tests/jail/attack.toml";
  core::Result<installation::Installation> installation = installation::Installation::Find();
  if (!installation) abort();
  core::Result<core::Profile> profile = profiles::LoadProfile(file, installation->profiles);
  if (!profile) abort();
  return std::move(*profile);
}

std::unique_ptr<Sandbox> OpenAttack(size_t spares = 4) {
  SandboxOptions options = tests::FullPython();
  options.profile = AttackProfile();
  options.spares = spares;
  return tests::Open(std::move(options));
}

// What it printed; a run that did not end well fails the test.
std::string Print(Sandbox& sandbox, const std::string& source) {
  core::Result<host::Outcome> outcome = sandbox.Run(tests::MakeRequest(source));
  if (!outcome) {
    ADD_FAILURE() << outcome.error().ToString();
    return "";
  }
  EXPECT_EQ(outcome->status, host::Status::kOk) << host::OutcomeToJson(*outcome, 1);
  return outcome->stdout_stream.text;
}

struct Trace {
  const char* name;
  const char* leave;  // changes something, then prints what `look` prints
  const char* look;
};
void PrintTo(const Trace& trace, std::ostream* out) { *out << trace.name; }

class Neighbours : public testing::TestWithParam<Trace> {};

// The control is in the same worker: `look` prints one thing in an untouched worker and another
// after `leave`. Then it must print the first again in every later worker, those that were waiting
// as spares included.
TEST_P(Neighbours, SeeNothingOfEachOther) {
  const Trace& trace = GetParam();
  const auto sandbox = OpenAttack();
  ASSERT_TRUE(sandbox);
  const std::string look = std::string("\n") + trace.look + "\n";
  const std::string untouched = Print(*sandbox, look);
  ASSERT_NE(untouched, "");
  const std::string touched = Print(*sandbox, trace.leave + look);
  ASSERT_NE(touched, untouched) << "it left no trace: this test proves nothing";
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Print(*sandbox, look), untouched) << "run " << i;
}

const Trace kTraces[] = {
    {"a_builtin", "import builtins; builtins.leak = 1",
     "import builtins; print(hasattr(builtins, 'leak'))"},
    {"a_patched_builtin", "import builtins; builtins.len = lambda x: 42", "print(len(''))"},
    {"a_module", "import sys; sys.modules['leak'] = sys",
     "import sys; print('leak' in sys.modules)"},
    {"a_patched_module", "import json; json.dumps = lambda x: 'patched'",
     "import json; print(json.dumps(1))"},
    {"a_removed_module", "import sys; del sys.modules['json']; sys.modules['json'] = None",
     "import sys; print(sys.modules['json'] is None)"},
    {"a_global", "leak = 1", "print('leak' in globals())"},
    {"an_import_of_the_library", "import colorsys", "import sys; print('colorsys' in sys.modules)"},
    {"a_path", "import sys; sys.path.append('/leak')", "import sys; print('/leak' in sys.path)"},
    {"an_environment_variable", "import os; os.environ['LEAK'] = '1'",
     "import os; print('LEAK' in os.environ)"},
    {"a_signal_handler", "import signal; signal.signal(15, signal.SIG_IGN)",
     "import signal; print(signal.getsignal(15))"},
    {"a_signal_mask", "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [10])",
     "import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, []))"},
    {"a_recursion_limit", "import sys; sys.setrecursionlimit(77777)",
     "import sys; print(sys.getrecursionlimit())"},
    {"a_decimal_context", "import decimal; decimal.getcontext().prec = 7",
     "import decimal; print(decimal.getcontext().prec)"},
    {"a_default_context", "import decimal; decimal.DefaultContext.prec = 7",
     "import decimal; print(decimal.DefaultContext.prec)"},
    {"a_locale", "import os, time; os.environ['TZ'] = 'Asia/Tokyo'; time.tzset()",
     "import time; print(time.localtime(0).tm_hour)"},
    {"a_cached_pattern", "import re; re.compile('leak-[a-z]+')",
     "import re; print(any('leak' in str(key) for key in re._cache))"},
    {"a_random_state", "import random; random.seed(1)",
     "import random; print(random.random() == 0.13436424411240122)"},
    {"a_patched_generator", "import random; random.random = lambda: 0.5",
     "import random; print(random.random() == 0.5)"},
    {"a_garbage_collector", "import gc; gc.disable(); gc.set_threshold(7)",
     "import gc; print(gc.get_threshold())"},
    {"a_trace_function", "import sys; sys.settrace(lambda *a: None)",
     "import sys; print(sys.gettrace() is None)"},
    {"an_audit_hook",
     "import sys, builtins\ndef hook(*a): builtins.heard = True\nsys.addaudithook(hook)\nopen",
     "import sys, builtins; sys.audit('leak'); print(hasattr(builtins, 'heard'))"},
    {"a_codec",
     "import codecs; codecs.register(lambda n: codecs.lookup('utf-8') if n == 'leak' "
     "else None)",
     "import codecs\ntry: codecs.lookup('leak'); print(True)\nexcept LookupError: print(False)"},
    {"a_subclass", "import abc\nclass Leak(abc.ABC): pass",
     "import abc; print('Leak' in [c.__name__ for c in abc.ABC.__subclasses__()])"},
    {"a_small_integer",
     // The int 200 that everybody shares now is 201.
     "import ctypes; ctypes.c_uint32.from_address(id(200) + 24).value = 201",
     "x = int('199'); print(x + 1 == int('201'))"},
    {"a_byte_of_libc",
     "import ctypes; libc = ctypes.CDLL(None)\n"
     "environ = ctypes.c_void_p.in_dll(libc, 'environ'); environ.value = None",
     "import ctypes; print(ctypes.c_void_p.in_dll(ctypes.CDLL(None), 'environ').value is None)"},
    {"a_descriptor", "import json; leak = open(json.__file__)",
     "import os\nn = 0\nfor i in range(64):\n    try: os.fstat(i); n += 1\n    except OSError: "
     "pass\n"
     "print(n)"},
    {"a_limit", "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))",
     "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE))"},
    {"an_object_in_the_gc", "import gc\nclass Leak: pass\nleak = Leak()",
     "import gc; print(any(type(o).__name__ == 'Leak' for o in gc.get_objects()))"},
    {"a_warning_filter", "import warnings; warnings.simplefilter('error')",
     "import warnings; print(warnings.filters[0][0])"},
    {"an_exit_function", "import atexit; atexit.register(print, 'leak')",
     "import atexit; print(atexit._ncallbacks())"},
};
INSTANTIATE_TEST_SUITE_P(Traces, Neighbours, testing::ValuesIn(kTraces),
                         [](const auto& info) { return info.param.name; });

// The open file description of descriptors 0 to 2 is one for all workers of a zygote.
TEST(NeighboursShare, NoFlagsOfDescriptors) {
  const auto sandbox = OpenAttack();
  ASSERT_TRUE(sandbox);
  const char* look = "import fcntl\nprint([fcntl.fcntl(n, fcntl.F_GETFL) for n in (0, 1, 2)])";
  const std::string untouched = Print(*sandbox, look);
  Print(*sandbox, R"(
import fcntl, os
for number in 0, 1, 2:
    try: fcntl.fcntl(number, fcntl.F_SETFL, os.O_NONBLOCK | os.O_APPEND)
    except OSError: pass
)");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Print(*sandbox, look), untouched);
}

// A lock on a file of the library, which all workers see, would be a message between two guests.
TEST(NeighboursShare, NoLocksOfFiles) {
  const auto sandbox = OpenAttack();
  ASSERT_TRUE(sandbox);
  auto holder = std::async(std::launch::async, [&] {
    return Print(*sandbox, R"(
import fcntl, json, time
file = open(json.__file__)
try: fcntl.lockf(file, fcntl.LOCK_SH)
except OSError: pass
time.sleep(1)  # sleeps: others look meanwhile
print("held")
)");
  });
  std::set<std::string> seen;
  while (holder.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    seen.insert(Print(*sandbox, R"(
import fcntl, json, struct
question = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
try: print(struct.unpack("hhqqi4x", fcntl.fcntl(open(json.__file__), fcntl.F_GETLK, question))[0])
except OSError: print(fcntl.F_UNLCK)
)"));
  }
  EXPECT_EQ(holder.get(), "held\n");
  EXPECT_EQ(seen, std::set<std::string>{"2\n"});  // F_UNLCK: nobody is in the way
}

// Memory that a run was given holds nothing of an earlier one: kernels hand out zeros, and the
// capture region is a new one for each worker.
TEST(NeighboursShare, NoMemory) {
  const auto sandbox = OpenAttack();
  ASSERT_TRUE(sandbox);
  const char* look = R"(
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
secret = bytes(reversed(b"TERCES-S'RUOBHGIEN"))
found = 0
for size in [1 << 12] * 1000 + [1 << 20] * 40:
    place = libc.malloc(ctypes.c_size_t(size))
    if place: found += secret in ctypes.string_at(place, size)
print(found > 0)
)";
  const char* leave = R"(
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
secret = bytes(reversed(b"TERCES-S'RUOBHGIEN"))
places = [libc.malloc(ctypes.c_size_t(4096)) for i in range(1000)]
for place in places: ctypes.memmove(place, secret * 200, 3600)
for place in places: libc.free(place)
)";
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer keeps freed memory from being handed out again: no control";
#endif
  EXPECT_EQ(Print(*sandbox, std::string(leave) + look), "True\n") << "the control";
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Print(*sandbox, look), "False\n");
}

TEST(NeighboursShare, NoRandomNumbers) {
  const auto sandbox = OpenAttack(8);
  ASSERT_TRUE(sandbox);
  constexpr int kWorkers = 300;
  // Each line is a generator of its own; Random() seeds itself anew.
  const char* draw = R"(
import os, random, secrets, uuid, ctypes
buffer = ctypes.create_string_buffer(16)
ctypes.CDLL(None).getrandom(buffer, 16, 0)
print(random.random())
print(random.getrandbits(64))
print(random.Random().random())
print(random.SystemRandom().random())
print(secrets.token_hex(16))
print(uuid.uuid4())
print(os.urandom(16).hex())
print(buffer.raw.hex())
)";
  std::map<size_t, std::set<std::string>> drawn;
  for (int i = 0; i < kWorkers; ++i) {
    std::istringstream lines(Print(*sandbox, draw));
    size_t generator = 0;
    for (std::string line; std::getline(lines, line); ++generator) {
      EXPECT_TRUE(drawn[generator].insert(line).second)
          << "generator " << generator << ": " << line;
    }
    EXPECT_EQ(generator, 8u);
  }
  EXPECT_EQ(sandbox->counters().zygotes_started, 1u);
}

// The hash seed is one for all workers of a zygote (SECURITY.md), and another for the next zygote.
TEST(NeighboursShare, NoHashSeedAcrossZygotes) {
  const char* look = "print(hash('belljar'), id(object) % (1 << 40))";
  std::set<std::string> seen;
  for (int i = 0; i < 5; ++i) {
    const auto sandbox = OpenAttack(1);
    ASSERT_TRUE(sandbox);
    seen.insert(Print(*sandbox, look));
  }
  EXPECT_EQ(seen.size(), 5u);
}

// Two that run at the same time, and look for each other.
TEST(NeighboursShare, NoProcesses) {
  const auto sandbox = OpenAttack();
  ASSERT_TRUE(sandbox);
  const char* search = R"(
import ctypes, errno, os, time
found = []
for pid in range(2, 5000):
    for probe in (lambda: os.sched_getaffinity(pid), lambda: os.stat(f'/proc/{pid}')):
        try: probe(); found.append(pid)
        except OSError: pass
print(os.getpid(), found)
)";
  std::vector<std::future<std::string>> runs;
  for (int i = 0; i < 4; ++i) {
    runs.push_back(std::async(std::launch::async, [&] { return Print(*sandbox, search); }));
  }
  for (auto& run : runs) EXPECT_EQ(run.get(), "1 []\n");
}

// A guest that ends badly takes nobody with it, and the next worker is as good as the first.
TEST(NeighboursShare, NoFate) {
  const auto sandbox = OpenAttack();
  ASSERT_TRUE(sandbox);
  const std::string trace = std::to_string(SYS_ptrace);
  const std::string deaths[] = {
      "import os; os._exit(1)",
      "import ctypes; ctypes.string_at(0)",
      "import ctypes; ctypes.CDLL(None).syscall(" + trace + ", 0, 0, 0, 0)",
      "x = []\nwhile True: x.append(bytearray(1 << 20))",
      "while True: pass",
  };
  for (int round = 0; round < 3; ++round) {
    for (const std::string& death : deaths) {
      auto bystander = std::async(std::launch::async, [&] {
        // sleeps: it is there when the other ends
        return Print(*sandbox, "import time; time.sleep(0.2); print('well')");
      });
      core::Result<host::Outcome> outcome =
          sandbox->Run(tests::MakeRequest(death, std::chrono::milliseconds(300)));
      ASSERT_TRUE(outcome) << outcome.error().ToString();
      EXPECT_NE(outcome->status, host::Status::kOk);
      EXPECT_EQ(bystander.get(), "well\n");
      EXPECT_EQ(Print(*sandbox, "print(1)"), "1\n");
    }
  }
  EXPECT_EQ(sandbox->counters().zygotes_started, 1u);
}

}  // namespace
}  // namespace belljar::outside::neighbours_test
