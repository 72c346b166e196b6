// engine/core: the values and owners that both sides share.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/capture_layout.h"
#include "engine/core/fd.h"
#include "engine/core/flat.h"
#include "engine/core/limits.h"
#include "engine/core/mapping.h"
#include "engine/core/process.h"
#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/core/text.h"
#include "engine/host/beneath.h"
#include "engine/host/digest.h"
#include "engine/host/json_reader.h"
#include "engine/host/suggest.h"
#include "engine/seal/seccomp.h"
#include "tests/support/support.h"

namespace belljar::core::core_test {

struct Inner {
  std::string text;
  std::optional<int> number;
  static auto Members(auto& inner) { return std::tie(inner.text, inner.number); }
};

struct Outer {
  bool flag = false;
  int16_t small = 0;
  Bytes size{0};
  std::chrono::milliseconds time{0};
  std::vector<uint32_t> numbers;
  std::vector<Inner> inner;
  static auto Members(auto& outer) {
    return std::tie(outer.flag, outer.small, outer.size, outer.time, outer.numbers, outer.inner);
  }
};

namespace {

Outer Filled() {
  return {.flag = true,
          .small = -2,
          .size = Bytes{1},
          .time = std::chrono::milliseconds(-7),
          .numbers = {1, 0xffffffff},
          .inner = {{std::string(2, '\0'), std::nullopt}, {"", -1}}};
}

TEST(Flat, WhatIsReadIsWhatWasWritten) {
  const std::string bytes = ToFlat(Filled());
  const Result<Outer> read = FromFlat<Outer>("it", bytes);
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(ToFlat(*read), bytes);
  EXPECT_TRUE(read->flag);
  EXPECT_EQ(read->small, -2);
  EXPECT_EQ(read->time, std::chrono::milliseconds(-7));
  EXPECT_EQ(read->numbers, (std::vector<uint32_t>{1, 0xffffffff}));
  ASSERT_EQ(read->inner.size(), 2u);
  EXPECT_FALSE(read->inner[0].number);
  EXPECT_EQ(read->inner[1].number, -1);
}

TEST(Flat, WhatIsNotWholeOrDoesNotFitIsAnError) {
  const std::string bytes = ToFlat(Filled());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(FromFlat<Outer>("it", bytes.substr(0, size))) << size;
  }
  EXPECT_FALSE(FromFlat<Outer>("it", bytes + "x"));
  const auto with = [&](size_t at, uint64_t number) {
    std::string changed = bytes;
    memcpy(changed.data() + at, &number, sizeof number);
    return FromFlat<Outer>("it", changed).ok();
  };
  EXPECT_TRUE(with(0, 0));
  EXPECT_FALSE(with(0, 2)) << "no bool";
  EXPECT_FALSE(with(8, 0x8000)) << "more than an int16_t";
  // Sizes of lists and texts: more than there is, also where a multiplication would wrap.
  constexpr size_t kNumbers = 32;
  for (const uint64_t size : {uint64_t{1000}, uint64_t{1} << 62, ~uint64_t{0}}) {
    EXPECT_FALSE(with(kNumbers, size)) << size;
    EXPECT_FALSE(with(kNumbers + 16, size)) << size;
    EXPECT_FALSE(with(kNumbers + 24, size)) << size;
  }
}

using std::chrono::milliseconds;
using std::chrono::seconds;

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }
bool IsCloseOnExec(int fd) { return fcntl(fd, F_GETFD) & FD_CLOEXEC; }

// --- result -----------------------------------------------------------------------------------

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> value = 6;
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(*value, 6);
  const Result<int> error = MakeError("count", "there are none");
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().operation, "count");
}

TEST(Result, CarriesWhatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  const std::unique_ptr<int> moved = *std::move(result);
  EXPECT_EQ(*moved, 7);
}

TEST(Result, OfVoidIsFineUnlessAnError) {
  EXPECT_TRUE(Result<void>());
  EXPECT_FALSE(Result<void>(MakeError("try", "")));
}

TEST(Error, NamesOperationErrnoAndDetail) {
  EXPECT_EQ(SystemErrorOf(EPERM, "mount", "ask root").ToString(),
            "mount: Operation not permitted (EPERM): ask root");
  EXPECT_EQ(MakeError("load", "no such profile").ToString(), "load: no such profile");
  EXPECT_NE(SystemErrorOf(4095, "call").ToString().find("call"), std::string::npos);
  errno = ENOENT;
  EXPECT_EQ(SystemError("open").error_number, ENOENT);
}

// --- amounts ----------------------------------------------------------------------------------

TEST(Bytes, ReadsTheCommonForms) {
  const struct {
    const char* text;
    uint64_t count;
  } kForms[] = {{"0", 0},          {"4096", 4096},         {"64k", 65536},    {"64K", 65536},
                {"128m", 1 << 27}, {"128MB", 1 << 27},     {"1MiB", 1 << 20}, {"12b", 12},
                {"1g", 1 << 30},   {"3gib", 3221225472ull}};
  for (const auto& form : kForms) {
    const Result<Bytes> bytes = Bytes::Parse(form.text);
    ASSERT_TRUE(bytes) << form.text;
    EXPECT_EQ(bytes->count, form.count) << form.text;
  }
}

TEST(Bytes, RefusesRubbishAndOverflow) {
  for (const char* text : {"",
                           " ",
                           "m",
                           "-1",
                           "+1",
                           "1.5m",
                           "1 m",
                           "1mm",
                           "0x10",
                           "1t",
                           "1m ",
                           " 1",
                           "18446744073709551616",
                           "99999999999999999999",
                           "18446744073709551615g",
                           "17179869184g",
                           "8589934592g",
                           "nan",
                           "inf",
                           "1e3",
                           "1\x80"}) {
    const Result<Bytes> bytes = Bytes::Parse(text);
    ASSERT_FALSE(bytes) << text;
    EXPECT_NE(bytes.error().ToString().find("128m"), std::string::npos) << "no advice";
  }
  EXPECT_FALSE(Bytes::Parse(std::string("1m\0", 3)));
  EXPECT_FALSE(Bytes::Parse(std::string(1 << 20, '9')));
}

TEST(Bytes, LongRubbishIsNotEchoedWhole) {
  EXPECT_LT(Bytes::Parse(std::string(1 << 20, 'x')).error().ToString().size(), 200u);
}

TEST(Bytes, WritesTheShortestExactForm) {
  for (const char* text : {"0", "1", "1000", "1k", "1023k", "1m", "128m", "3g"}) {
    EXPECT_EQ(Bytes::Parse(text)->ToString(), text);
  }
  EXPECT_EQ(Bytes{1024 * 1024}.ToString(), "1m");
}

TEST(Duration, ReadsTheCommonForms) {
  const struct {
    const char* text;
    milliseconds duration;
  } kForms[] = {{"30", seconds(30)},          {"1.5", milliseconds(1500)}, {"30s", seconds(30)},
                {"500ms", milliseconds(500)}, {"2m", seconds(120)},        {"2min", seconds(120)},
                {"0.001", milliseconds(1)},   {"86400", seconds(86400)}};
  for (const auto& form : kForms) {
    const Result<milliseconds> duration = ParseDuration(form.text);
    ASSERT_TRUE(duration) << form.text;
    EXPECT_EQ(*duration, form.duration) << form.text;
  }
}

TEST(Duration, RefusesRubbishZeroAndMoreThanADay) {
  for (const char* text :
       {"",      "s",      "0",   "0s",  "-1",
        "1e3",   "1e400",  "nan", "inf", "infinity",
        "86401", "25h",    "1 s", " 1",  "1s ",
        "0x1p3", "0.0001", "1,5", "++1", "99999999999999999999999999999999999999999"}) {
    EXPECT_FALSE(ParseDuration(text)) << text;
  }
  EXPECT_FALSE(ParseDuration(std::string(400, '9')));
  EXPECT_FALSE(ParseDuration(std::string("1\0", 2)));
}

TEST(Duration, WritesWhatItReads) {
  for (milliseconds duration : {milliseconds(1), milliseconds(1500), milliseconds(30'000)}) {
    EXPECT_EQ(*ParseDuration(FormatDuration(duration)), duration);
  }
}

// --- descriptors ------------------------------------------------------------------------------

TEST(UniqueFd, ClosesOnceAndMovesOwnership) {
  int raw;
  {
    UniqueFd first(open("/dev/null", O_RDONLY | O_CLOEXEC));
    raw = first.get();
    UniqueFd second = std::move(first);
    EXPECT_EQ(first.get(),
              -1);  // NOLINT(bugprone-use-after-move): the moved-from state is the test
    EXPECT_TRUE(IsOpen(raw));
    UniqueFd& alias = second;
    second = std::move(alias);
    EXPECT_TRUE(IsOpen(raw)) << "moving onto itself must not close";
  }
  EXPECT_FALSE(IsOpen(raw));
}

TEST(UniqueFd, ReleaseGivesItAway) {
  UniqueFd fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int raw = fd.Release();
  EXPECT_FALSE(fd);
  EXPECT_TRUE(IsOpen(raw));
  close(raw);
}

TEST(SealedMemory, HasItsSizeAndRefusesAnother) {
  const Result<UniqueFd> memory = CreateSealedMemory("test", 8192);
  ASSERT_TRUE(memory);
  EXPECT_TRUE(IsCloseOnExec(memory->get()));
  EXPECT_EQ(lseek(memory->get(), 0, SEEK_END), 8192);
  for (off_t size : {off_t{0}, off_t{4096}, off_t{8191}, off_t{8193}, off_t{1 << 20}}) {
    errno = 0;
    EXPECT_EQ(ftruncate(memory->get(), size), -1) << size;
    EXPECT_EQ(errno, EPERM) << size;
  }
  EXPECT_EQ(fcntl(memory->get(), F_ADD_SEALS, F_SEAL_WRITE), -1) << "more seals were allowed";
  EXPECT_EQ(fallocate(memory->get(), 0, 8192, 4096), -1) << "grew by fallocate";
  lseek(memory->get(), 0, SEEK_END);
  EXPECT_LE(write(memory->get(), "x", 1), 0) << "grew by write";
}

TEST(SealedMemory, IsSharedThroughAMapping) {
  const Result<UniqueFd> memory = CreateSealedMemory("test", 4096);
  ASSERT_TRUE(memory);
  const Result<Mapping> one = Mapping::Map(memory->get(), 4096);
  const Result<Mapping> other = Mapping::Map(memory->get(), 4096);
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->size(), 4096u);
  one->data()[17] = std::byte{42};
  EXPECT_EQ(other->data()[17], std::byte{42});
}

TEST(Mapping, OfABadDescriptorIsAnError) {
  const Result<Mapping> mapping = Mapping::Map(-1, 4096);
  ASSERT_FALSE(mapping);
  EXPECT_EQ(mapping.error().error_number, EBADF);
}

TEST(MemoryFile, HoldsItsContentAndCannotBeWritten) {
  const std::string content(100'000, 'b');
  const Result<UniqueFd> file = CreateMemoryFile("test", content);
  ASSERT_TRUE(file);
  EXPECT_EQ(write(file->get(), "x", 1), -1);
  EXPECT_EQ(ftruncate(file->get(), 0), -1);
  lseek(file->get(), 0, SEEK_SET);
  EXPECT_EQ(*ReadAll(file->get(), content.size()), content);
}

TEST(ReadAll, TakesExactlyTheLimitAndNotOneByteMore) {
  for (size_t size :
       {size_t{0}, size_t{1}, size_t{4095}, size_t{4096}, size_t{4097}, size_t{70'001}}) {
    const std::string content(size, 'x');
    const Result<UniqueFd> file = CreateMemoryFile("test", content);
    ASSERT_TRUE(file);
    EXPECT_EQ(*ReadAll(file->get(), size), content) << size;
    if (size == 0) continue;
    lseek(file->get(), 0, SEEK_SET);
    const Result<std::string> part = ReadAll(file->get(), size - 1);
    ASSERT_FALSE(part) << size;
    EXPECT_EQ(part.error().error_number, EFBIG);
  }
}

TEST(ReadAll, ReadsProcFilesWhoseSizeIsZero) {
  const Result<std::string> status = ReadFile("/proc/self/status", 64 * 1024);
  ASSERT_TRUE(status);
  EXPECT_NE(status->find("Pid:"), std::string::npos);
}

TEST(ReadFile, EndlessAndMissingFilesAreErrorsThatNameThem) {
  const Result<std::string> endless = ReadFile("/dev/zero", 100'000);
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().error_number, EFBIG);
  EXPECT_NE(endless.error().ToString().find("/dev/zero"), std::string::npos);
  const Result<std::string> missing = ReadFile("/nowhere/at/all", 10);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().error_number, ENOENT);
  EXPECT_FALSE(ReadFile("/proc", 10)) << "a folder";
}

// --- sockets ----------------------------------------------------------------------------------

std::pair<UniqueFd, UniqueFd> Pair(int type) {
  auto pair = CreateSocketPair(type);
  if (!pair) abort();
  return std::move(*pair);
}

TEST(Socket, PairsAreCloseOnExec) {
  const auto [left, right] = Pair(SOCK_STREAM);
  EXPECT_TRUE(IsCloseOnExec(left.get()));
  EXPECT_TRUE(IsCloseOnExec(right.get()));
}

TEST(Socket, MessagesCarryBytesAndDescriptors) {
  const auto [left, right] = Pair(SOCK_SEQPACKET);
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  const int descriptors[] = {null.get(), null.get()};
  ASSERT_TRUE(SendMessage(left.get(), "hello", descriptors));
  Result<Message> message = ReceiveMessage(right.get(), 64);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->bytes, "hello");
  ASSERT_EQ(message->descriptors.size(), 2u);
  for (const UniqueFd& fd : message->descriptors) {
    EXPECT_TRUE(IsCloseOnExec(fd.get()));
    EXPECT_EQ(write(fd.get(), "x", 1), 1);
  }
}

TEST(Socket, AMessageOverTheLimitIsAnErrorAndItsDescriptorsAreClosed) {
  const auto [left, right] = Pair(SOCK_SEQPACKET);
  const int descriptors[] = {left.get()};
  const size_t before = tests::OpenDescriptors();
  ASSERT_TRUE(SendMessage(left.get(), std::string(65, 'x'), descriptors));
  const Result<Message> message = ReceiveMessage(right.get(), 64);
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().error_number, EMSGSIZE);
  EXPECT_EQ(tests::OpenDescriptors(), before);
}

// What SendMessage would abort on: a peer that does not use it.
void SendDescriptors(int socket, size_t count) {
  std::vector<char> control(CMSG_SPACE(count * sizeof(int)));
  char byte = 'x';
  iovec part{&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(count * sizeof(int));
  for (size_t i = 0; i < count; ++i) {
    memcpy(CMSG_DATA(header) + i * sizeof(int), &socket, sizeof socket);
  }
  ASSERT_EQ(sendmsg(socket, &message, MSG_NOSIGNAL), 1) << strerror(errno);
}

TEST(Socket, MoreDescriptorsThanExpectedAreAnErrorAndNoneStaysOpen) {
  for (size_t count : {kMaxDescriptors + 1, size_t{100}, size_t{253}}) {
    const auto [left, right] = Pair(SOCK_SEQPACKET);
    const size_t before = tests::OpenDescriptors();
    SendDescriptors(left.get(), count);
    const Result<Message> message = ReceiveMessage(right.get(), 64);
    ASSERT_FALSE(message) << count;
    EXPECT_EQ(message.error().error_number, EMSGSIZE);
    EXPECT_EQ(tests::OpenDescriptors(), before) << count;
  }
}

TEST(Socket, MessagesReportAPeerThatIsGone) {
  auto [left, right] = Pair(SOCK_SEQPACKET);
  left.Reset();
  const Result<Message> end = ReceiveMessage(right.get(), 64);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->bytes.empty());
  const Result<void> sent = SendMessage(right.get(), "x");
  ASSERT_FALSE(sent) << "and no SIGPIPE, or this program had ended here";
  EXPECT_EQ(sent.error().error_number, EPIPE);
}

TEST(Socket, ManyDescriptorsInOneMessageAreABrokenInvariant) {
  const auto [left, right] = Pair(SOCK_SEQPACKET);
  const std::vector<int> descriptors(kMaxDescriptors + 1, left.get());
  EXPECT_EQ(tests::InChild([&descriptors, socket = left.get()] {
              (void)SendMessage(socket, "x", descriptors).ok();
              return 0;
            }),
            tests::KilledBy(SIGABRT));
}

TEST(Socket, SendAllSurvivesAFullBufferAndASlowReader) {
  auto [left, right] = Pair(SOCK_STREAM);
  const std::string one(3'000'000, '1'), two, three(2'000'000, '3');
  std::string received(one.size() + three.size(), '\0');
  std::thread reader(
      [&, fd = right.get()] { EXPECT_TRUE(ReceiveExactly(fd, received.data(), received.size())); });
  const std::string_view parts[] = {one, two, three};
  EXPECT_TRUE(SendAll(left.get(), parts, Clock::now() + seconds(20)));
  reader.join();
  EXPECT_TRUE(received == one + three);
}

TEST(Socket, SendAllGivesUpAtItsDeadline) {
  const auto [left, right] = Pair(SOCK_STREAM);
  const std::string much(16 << 20, 'x');
  const std::string_view parts[] = {much};
  const Deadline start = Clock::now();
  const Result<void> sent = SendAll(left.get(), parts, start + milliseconds(50));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().error_number, ETIMEDOUT);
  EXPECT_GE(Clock::now() - start, milliseconds(50));
}

TEST(Socket, SendAllToAClosedPeerIsAnErrorNotASignal) {
  auto [left, right] = Pair(SOCK_STREAM);
  right.Reset();
  const std::string_view parts[] = {"x"};
  const Result<void> sent = SendAll(left.get(), parts, Clock::now() + seconds(1));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().error_number, EPIPE);
}

TEST(Socket, ReceiveExactlyTellsAnEndFromAnError) {
  auto [left, right] = Pair(SOCK_STREAM);
  const std::string_view parts[] = {"abc"};
  ASSERT_TRUE(SendAll(left.get(), parts, Clock::now() + seconds(1)));
  left.Reset();
  char buffer[4];
  const Result<void> got = ReceiveExactly(right.get(), buffer, 4);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().error_number, ECONNRESET);
}

TEST(Socket, WaitReadableTimesOutAndSeesData) {
  const auto [left, right] = Pair(SOCK_STREAM);
  const Result<void> nothing = WaitReadable(right.get(), Clock::now() + milliseconds(10));
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().error_number, ETIMEDOUT);
  ASSERT_EQ(write(left.get(), "x", 1), 1);
  EXPECT_TRUE(WaitReadable(right.get(), Clock::now() + seconds(5)));
}

TEST(Socket, ASignalDoesNotEndAWait) {
  const auto [left, right] = Pair(SOCK_STREAM);
  struct sigaction action {};
  action.sa_handler = [](int) {};
  struct sigaction before;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  const pthread_t waiter = pthread_self();
  std::atomic<bool> stop = false;
  std::thread pest([&] {
    while (!stop) {
      pthread_kill(waiter, SIGUSR1);
      std::this_thread::sleep_for(milliseconds(1));  // sleeps: some forty in all
    }
  });
  const Result<void> waited = WaitReadable(right.get(), Clock::now() + milliseconds(40));
  stop = true;
  pest.join();
  sigaction(SIGUSR1, &before, nullptr);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().error_number, ETIMEDOUT);
}

TEST(PollTimeout, RoundsUpAndIsNeverNegative) {
  EXPECT_EQ(PollTimeout(Clock::now() - seconds(5)), 0);
  EXPECT_EQ(PollTimeout(Deadline()), 0);
  EXPECT_GE(PollTimeout(Clock::now() + std::chrono::microseconds(900)), 0);
  EXPECT_EQ(PollTimeout(Clock::now() + std::chrono::hours(24 * 365)), INT_MAX);
}

// --- processes --------------------------------------------------------------------------------

// By its pidfd, and as where the kernel has none.
enum class Held { kByPidfd, kByPid };
std::ostream& operator<<(std::ostream& out, Held held) {
  return out << (held == Held::kByPidfd ? "ByPidfd" : "ByPid");
}

class AnyProcess : public testing::TestWithParam<Held> {
 protected:
  static Process Start(int (*body)()) {
    const pid_t pid = fork();
    if (pid == 0) _exit(body());
    if (GetParam() == Held::kByPid) return Process(pid, UniqueFd());
    return Process(pid, UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))));
  }
};
INSTANTIATE_TEST_SUITE_P(Held, AnyProcess, testing::Values(Held::kByPidfd, Held::kByPid),
                         testing::PrintToStringParamName());

int SleepForever() {
  for (;;) pause();
}
bool IsChild(pid_t pid) {
  return waitid(P_PID, static_cast<id_t>(pid), nullptr, WEXITED | WNOHANG | WNOWAIT) == 0;
}

TEST_P(AnyProcess, DistinguishesExitFromSignal) {
  const ExitReport exited = Start([] { return 7; }).Wait();
  EXPECT_TRUE(exited.known);
  EXPECT_EQ(exited.exit_code, 7);
  EXPECT_EQ(exited.signal, 0);
  const ExitReport killed = Start([] { return raise(SIGUSR1); }).Wait();
  EXPECT_EQ(killed.signal, SIGUSR1);
  EXPECT_EQ(killed.exit_code, -1);
}

TEST_P(AnyProcess, ItsEndIsTheEndOfTheChild) {
  pid_t pid;
  {
    const Process process = Start(SleepForever);
    pid = process.pid();
    EXPECT_TRUE(IsChild(pid));
  }
  EXPECT_FALSE(IsChild(pid)) << "not reaped";
}

TEST_P(AnyProcess, MovesOwnershipAndEndsWhatItIsAssignedOver) {
  Process first = Start(SleepForever);
  Process second = Start(SleepForever);
  const pid_t ended = first.pid(), kept = second.pid();
  first = std::move(second);
  EXPECT_FALSE(IsChild(ended));
  EXPECT_TRUE(IsChild(kept));
  EXPECT_EQ(first.pid(), kept);
  EXPECT_FALSE(second);  // NOLINT(bugprone-use-after-move): the moved-from state is the test
}

TEST_P(AnyProcess, ReportsUsageAndLeavesTheOwnerEmpty) {
  Process process = Start([] {
    while (clock() < CLOCKS_PER_SEC / 50) {
    }
    return 0;
  });
  const ExitReport report = process.Wait();
  EXPECT_GE(report.cpu_time, milliseconds(15));
  EXPECT_GT(report.max_rss_bytes, 100'000u);
  EXPECT_FALSE(process);
  EXPECT_FALSE(process.Wait().known) << "waited twice";
  process.Kill();
}

TEST_P(AnyProcess, OnceStoppedNothingOfItRunsAndItCanStillBeReaped) {
  static auto* counter = static_cast<volatile uint64_t*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(counter, MAP_FAILED);
  Process process = Start([]() -> int {
    for (;;) *counter = *counter + 1;
  });
  ASSERT_TRUE(tests::Eventually([&] { return *counter > 0; }));
  process.Stop();
  const uint64_t last = *counter;
  pollfd ended = {process.ended_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&ended, 1, 0), 1);
  std::this_thread::sleep_for(milliseconds(5));  // sleeps: it would count on
  EXPECT_EQ(*counter, last);
  EXPECT_EQ(process.Wait().signal, SIGKILL);
  process.Stop();
}

TEST_P(AnyProcess, CpuTimeIsOfTheRunningChild) {
  const Process process = Start([]() -> int {
    for (volatile const int* spin = new int(0); *spin == 0;) {
    }
    return 0;
  });
  EXPECT_TRUE(tests::Eventually([&] { return process.CpuTime() > milliseconds(20); }));
  EXPECT_EQ(Process().CpuTime().count(), 0);
}

TEST_P(AnyProcess, OneThatSomebodyElseReapedIsUnknownAndHarmless) {
  Process process = Start([] { return 0; });
  ASSERT_EQ(waitpid(process.pid(), nullptr, 0), process.pid());
  EXPECT_FALSE(process.Destroy().known);
}

TEST_P(AnyProcess, ItsEndIsSeenByWhoeverWaitsForIt) {
  const Process process = Start(SleepForever);
  pollfd ended = {process.ended_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&ended, 1, 0), 0);
  process.Kill();
  EXPECT_EQ(poll(&ended, 1, 20'000), 1);
  EXPECT_TRUE(IsChild(process.pid())) << "reaped before its owner did";
}

// A filter that gives `action` to one call and allows the others. In a child: it stays.
bool FilterCall(uint32_t number, uint32_t action) {
  const std::vector<sock_filter> filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && seal::InstallFilter(filter);
}

// How an owner dies that sends a signal to a pid.
tests::Death DeathOfAKiller(bool child_has_ended) {
  return tests::InChild([&] {
    const pid_t owner = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
      if (child_has_ended) _exit(0);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != owner) _exit(0);
      SleepForever();
    }
    const Process process(pid, UniqueFd());
    pollfd ended = {process.ended_fd(), POLLIN, 0};
    if (child_has_ended && poll(&ended, 1, 20'000) != 1) return 1;
    if (!FilterCall(SYS_kill, SECCOMP_RET_KILL_PROCESS)) return 2;
    process.Kill();
    return 7;
  });
}

TEST(Process, HeldByItsPidItIsSentNothingOnceItHasEnded) {
  EXPECT_EQ(DeathOfAKiller(true), tests::Exited(7));
  EXPECT_EQ(DeathOfAKiller(false), tests::KilledBy(SIGSYS)) << "the control";
}

TEST(Process, HeldByItsPidNeitherThreadNorDescriptorIsLeft) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                         std::filesystem::directory_iterator());
  };
  const auto before = threads();
  // One that has been joined is listed a moment longer.
  const auto there_are = [&](auto number) {
    return tests::Eventually([&] { return threads() == number; });
  };
  const size_t descriptors = tests::OpenDescriptors();
  for (int i = 0; i < 50; ++i) {
    const pid_t pid = fork();
    if (pid == 0) SleepForever();
    Process first(pid, UniqueFd());
    EXPECT_TRUE(there_are(before + 1));
    const Process second = std::move(first);
  }
  EXPECT_TRUE(there_are(before));
  EXPECT_EQ(tests::OpenDescriptors(), descriptors);
}

// --- paths below a directory ------------------------------------------------------------------

// In a child whose kernel has no such call; what `body` returns.
tests::Death WithoutCall(uint32_t number, const std::function<int()>& body) {
  return tests::InChild([&] {
    if (!FilterCall(number, SECCOMP_RET_ERRNO | ENOSYS)) return 99;
    return body();
  });
}

// The same with openat2 and without.
class Beneath : public testing::TestWithParam<bool> {
 protected:
  Beneath() {
    namespace fs = std::filesystem;
    fs::create_directories(folder_.path() + "/root/d/e");
    folder_.Write("secret", "secret");
    folder_.Write("root/file", "text");
    folder_.Write("root/d/e/deep", "text");
    fs::create_symlink("d", folder_.path() + "/root/to_d");
    fs::create_symlink("file", folder_.path() + "/root/to_file");
    fs::create_symlink("../secret", folder_.path() + "/root/d/out");
    fs::create_symlink("/", folder_.path() + "/root/slash");
    root_.Reset(open((folder_.path() + "/root").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }

  // 0, or the error. In a child with or without openat2.
  int ErrorOf(const char* path, int flags, int directory = -1) {
    const auto attempt = [&] {
      const UniqueFd fd = host::OpenBeneath(directory < 0 ? root_.get() : directory, path, flags,
                                            flags & O_CREAT ? 0600 : 0);
      return fd ? 0 : errno;
    };
    const tests::Death death =
        GetParam() ? tests::InChild(attempt) : WithoutCall(SYS_openat2, attempt);
    EXPECT_EQ(death.signal, 0);
    return death.exit_code;
  }

  const tests::TemporaryFolder folder_;
  UniqueFd root_;
};
INSTANTIATE_TEST_SUITE_P(Kernel, Beneath, testing::Bool(), [](const auto& info) {
  return info.param ? "WithOpenat2" : "WithoutOpenat2";
});

TEST_P(Beneath, WhatIsThereIsOpened) {
  EXPECT_EQ(ErrorOf("file", O_RDONLY), 0);
  EXPECT_EQ(ErrorOf("d/e/deep", O_RDONLY), 0);
  EXPECT_EQ(ErrorOf("./d/./e", O_RDONLY | O_DIRECTORY), 0);
  EXPECT_EQ(ErrorOf(".", O_PATH | O_DIRECTORY), 0);
  EXPECT_EQ(ErrorOf("d/new", O_WRONLY | O_CREAT | O_EXCL), 0);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() + "/root/d/new"));
  EXPECT_EQ(ErrorOf("d/new", O_WRONLY | O_CREAT | O_EXCL), EEXIST);
  EXPECT_EQ(ErrorOf("none", O_RDONLY), ENOENT);
  EXPECT_EQ(ErrorOf("file/below", O_RDONLY), ENOTDIR);
  EXPECT_EQ(ErrorOf("", O_RDONLY), ENOENT);
}

TEST_P(Beneath, NothingLeadsOut) {
  EXPECT_EQ(ErrorOf("..", O_RDONLY), EXDEV);
  EXPECT_EQ(ErrorOf("../secret", O_RDONLY), EXDEV);
  EXPECT_EQ(ErrorOf("/etc/passwd", O_RDONLY), EXDEV);
  for (const char* path : {"d/out", "to_file", "to_d/e", "slash/etc/passwd", "slash", "to_d/new"}) {
    const int error = ErrorOf(path, O_RDONLY);
    EXPECT_TRUE(error == ELOOP || error == ENOTDIR) << path << ": " << error;
    EXPECT_NE(ErrorOf(path, O_WRONLY | O_CREAT), 0) << path;
  }
  EXPECT_EQ(std::filesystem::file_size(folder_.path() + "/secret"), 6u);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/root/d/new"));
}

TEST_P(Beneath, NoOtherFileSystemIsEntered) {
  const UniqueFd slash(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(ErrorOf("proc/self/status", O_RDONLY, slash.get()), EXDEV);
  EXPECT_EQ(ErrorOf("proc", O_RDONLY | O_DIRECTORY, slash.get()), EXDEV);
  EXPECT_EQ(ErrorOf("etc", O_RDONLY | O_DIRECTORY, slash.get()), 0) << "the control";
}

TEST_P(Beneath, ALinkItselfCanBeLookedAt) {
  const auto attempt = [&] {
    const UniqueFd fd = host::OpenBeneath(root_.get(), "to_file", O_PATH);
    struct stat status;
    return fd && fstat(fd.get(), &status) == 0 && S_ISLNK(status.st_mode) ? 7 : 1;
  };
  EXPECT_EQ(GetParam() ? tests::InChild(attempt) : WithoutCall(SYS_openat2, attempt),
            tests::Exited(7));
}

// --- suggestions ------------------------------------------------------------------------------

// The examples of FIPS 180-4, and a length past each block.
TEST(Digest, IsThatOfTheStandard) {
  EXPECT_EQ(host::Sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(host::Sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(host::Sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(host::Sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Suggestion, NamesTheNearest) {
  const std::vector<std::string> known = {"timeout", "memory", "output"};
  EXPECT_EQ(host::Suggestion("memry", known), "; did you mean \"memory\"?");
  EXPECT_EQ(host::Suggestion("timeuot", known), "; did you mean \"timeout\"?");
  EXPECT_EQ(host::Suggestion("xyzzyplugh", known), "");
  EXPECT_EQ(host::Suggestion("memory", {}), "");
  EXPECT_EQ(host::Suggestion("", {"abcd"}), "");
  EXPECT_EQ(host::Suggestion("", {"a"}), "");
  EXPECT_EQ(host::Suggestion("os", {"csv", "math"}), "");
  EXPECT_EQ(host::Suggestion("jsn", {"csv", "json"}), "; did you mean \"json\"?");
}

TEST(Suggestion, IsQuickOnLongNames) {
  const Deadline start = Clock::now();
  EXPECT_EQ(host::Suggestion(std::string(10 << 20, 'm'), {"memory"}), "");
  EXPECT_LT(Clock::now() - start, tests::Within(seconds(10)));
}

// --- layout -----------------------------------------------------------------------------------

TEST(CaptureLayout, BuffersFollowEachOtherWithoutOverlap) {
  const CaptureLayout layout{Bytes{1000}, Bytes{500}};
  EXPECT_GE(layout.stdout_offset(), sizeof(CaptureHeader));
  EXPECT_EQ(layout.stderr_offset(), layout.stdout_offset() + 1000);
  EXPECT_EQ(layout.report_offset(), layout.stderr_offset() + 1000);
  EXPECT_EQ(layout.size(), layout.report_offset() + 500);
}

// Why `text` is not read; nullopt: it is.
std::optional<host::JsonFailure::Reason> ReasonOf(std::string_view text,
                                                  const host::JsonBounds& bounds = {}) {
  const host::JsonReading reading = host::ReadJson(text, bounds);
  const auto* failure = std::get_if<host::JsonFailure>(&reading);
  return failure ? std::optional(failure->reason) : std::nullopt;
}

TEST(ReadJson, ReadsWhatIsJson) {
  for (const char* text :
       {"17", "-1", "1.5", "null", "true", R"("a\u0000b")", "[]", "{}",
        R"({"a":[1,{"b":[]},"c",[[],{}]],"d":{"a":null},"e":18446744073709551615})"}) {
    const host::JsonReading reading = host::ReadJson(text, {});
    ASSERT_TRUE(std::holds_alternative<nlohmann::json>(reading)) << text;
    EXPECT_EQ(std::get<nlohmann::json>(reading), nlohmann::json::parse(text));
  }
}

TEST(ReadJson, BoundsTheDepth) {
  const auto deep = host::JsonFailure::Reason::kTooDeep;
  EXPECT_EQ(ReasonOf("17", {.depth = 0}), std::nullopt);
  EXPECT_EQ(ReasonOf("[]", {.depth = 0}), deep);
  EXPECT_EQ(ReasonOf(R"([{"a":[1]},{"b":[2]},[[]]])", {.depth = 3}), std::nullopt);
  EXPECT_EQ(ReasonOf(R"([{"a":[1]},{"b":[2]},[[]]])", {.depth = 2}), deep);
  EXPECT_EQ(ReasonOf(R"(["[[[[","\"[[","\\",{}])", {.depth = 2}), std::nullopt);
}

TEST(ReadJson, BoundsTheNumberOfValues) {
  EXPECT_EQ(ReasonOf(R"({"a":[1,2]})", {.values = 4}), std::nullopt);
  EXPECT_EQ(ReasonOf(R"({"a":[1,2]})", {.values = 3}), host::JsonFailure::Reason::kTooMany);
}

TEST(ReadJson, SaysWhyNot) {
  EXPECT_EQ(ReasonOf(""), host::JsonFailure::Reason::kNotJson);
  EXPECT_EQ(ReasonOf("[1,]"), host::JsonFailure::Reason::kNotJson);
  EXPECT_EQ(ReasonOf("[] []"), host::JsonFailure::Reason::kNotJson);
  EXPECT_EQ(ReasonOf("[1e999]"), host::JsonFailure::Reason::kNumber);
  EXPECT_EQ(ReasonOf(R"([{"a":1,"b":2,"a":1}])"), host::JsonFailure::Reason::kRepeatedKey);
  EXPECT_EQ(ReasonOf(R"([{"a":{"a":1}},{"a":1}])"), std::nullopt);
  EXPECT_EQ(std::get<host::JsonFailure>(host::ReadJson("[1,]", {})).byte, 4u);
}

// --- text that people see -----------------------------------------------------------------------

TEST(Text, WhatMisleadsIsShownAsItsBytes) {
  EXPECT_EQ(Printable("a\u202eyp.exe"), "a\\xe2\\x80\\xaeyp.exe");
  EXPECT_EQ(Printable("\x1b[2J\n\x7f\u009b"), "\\x1b[2J\\x0a\\x7f\\xc2\\x9b");
  for (const char* one : {"\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202b",
                          "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"}) {
    EXPECT_TRUE(Printable(one).starts_with("\\x")) << one;
    EXPECT_FALSE(HasControls(one)) << one;
  }
  // Their neighbours, and text in every direction and width.
  const std::string plain =
      "~\u00a0\u061b\u061d\u200d\u2010\u2027\u202f\u2065\u206aשלום, مرحبا \U0001f600";
  EXPECT_EQ(Printable(plain), plain);
  EXPECT_FALSE(HasControls(plain));
  for (const char* one : {"\x1b", "a\n", "\x7f", "\u0080", "\u009f", "\xff", "\xe2\x80"}) {
    EXPECT_TRUE(HasControls(one)) << Printable(one);
  }
}

TEST(Text, WordsAreBetweenSpaces) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(Words(""), Parts{});
  EXPECT_EQ(Words(" \t\r\n"), Parts{});
  EXPECT_EQ(Words("one"), Parts{"one"});
  EXPECT_EQ(Words("  memory\tpids \n cpu\n"), (Parts{"memory", "pids", "cpu"}));
}

TEST(Text, SafeJsonSaysTheSame) {
  EXPECT_EQ(SafeJson("{\"\u202e\": \"a\u009b\x7f\u2028\u2069z\",\n 1: \"ü\u2010\U0001f600\"}"),
            "{\"\\u202e\": \"a\\u009b\\u007f\\u2028\\u2069z\",\n 1: \"ü\u2010\U0001f600\"}");
  EXPECT_EQ(SafeJson("\"\u061c\""), "\"\\u061c\"");
  EXPECT_EQ(SafeJson(""), "");
  EXPECT_EQ(SafeJson("\xe2\x80"), "\xe2\x80") << "no character";
}

TEST(Text, IsUtf8WhereverTheFirstByteIsThatIsNotAscii) {
  for (size_t before = 0; before <= 17; ++before) {
    const std::string ascii(before, 'a');
    EXPECT_TRUE(IsUtf8(ascii));
    for (const auto& [bytes, is_utf8] : {std::pair{"\xc3\xa4", true}, {"\xe9", false}}) {
      std::string text = ascii;
      text.append(bytes).append(ascii);
      EXPECT_EQ(IsUtf8(text), is_utf8) << before;
    }
    EXPECT_FALSE(IsUtf8(ascii + "\xc3")) << before;
  }
}

}  // namespace
}  // namespace belljar::core::core_test
