#include "engine/inside/places.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "engine/core/capture_layout.h"
#include "engine/inside/capture.h"
#include "engine/inside/host_channel.h"
#include "engine/inside/interpreter_frames.h"

namespace belljar::inside {
namespace {

constexpr size_t kMaxFile = 200;      // bytes of a file's name
constexpr size_t kMaxFunction = 100;  // likewise
// Calls of the library between two lines of the program, or before the first.
constexpr int kMaxFrames = 10'000;

std::vector<std::string>* g_library = nullptr;

// Everything of a fixed size: there may be no memory, or a lock that is held.
class Record {
 public:
  // At most `max` bytes of it, as UTF-8.
  void Text(PyObject* text, size_t max) {
    const size_t end = used_ + max;
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(text) && used_ + kLongest <= end; ++i) {
      Character(PyUnicode_READ_CHAR(text, i));
    }
    Byte('\0');
  }

  void Number(int number) {
    const auto [end, error] = std::to_chars(bytes_ + used_, bytes_ + sizeof bytes_, number);
    if (error == std::errc()) used_ = static_cast<size_t>(end - bytes_);
    Byte('\0');
  }

  std::string_view From(size_t begin) const { return {bytes_ + begin, used_ - begin}; }
  std::string_view text() const { return From(0); }
  void CutTo(size_t size) { used_ = size; }

 private:
  static constexpr size_t kLongest = 4;  // bytes of a character

  void Byte(unsigned value) {
    if (used_ < sizeof bytes_) bytes_[used_++] = static_cast<char>(value);
  }
  // A surrogate becomes three bytes that are not UTF-8, which the host replaces.
  void Character(Py_UCS4 c) {
    if (c < 0x80) return Byte(c == 0 ? '?' : c);
    if (c < 0x800) {
      Byte(0xc0 | c >> 6);
    } else if (c < 0x10000) {
      Byte(0xe0 | c >> 12);
      Byte(0x80 | (c >> 6 & 0x3f));
    } else {
      Byte(0xf0 | c >> 18);
      Byte(0x80 | (c >> 12 & 0x3f));
      Byte(0x80 | (c >> 6 & 0x3f));
    }
    Byte(0x80 | (c & 0x3f));
  }

  char bytes_[core::kMaxPlacesText];
  size_t used_ = 0;
};
static_assert(core::kMaxPlaces * (kMaxFile + kMaxFunction + 16) <= core::kMaxPlacesText);

bool IsOfLibrary(std::string_view file) {
  if (file.starts_with("<frozen ")) return true;
  return std::ranges::any_of(*g_library, [&](const std::string& folder) {
    return file.size() > folder.size() && file[folder.size()] == '/' && file.starts_with(folder);
  });
}

void RecordFrames(const PyThreadState* thread_state) {
  Record record;
  size_t places = 0;
  int left = kMaxFrames;
  for (const void* frame = belljar_innermost_frame(thread_state);
       frame != nullptr && places < core::kMaxPlaces && left > 0;
       frame = belljar_calling_frame(frame), --left) {
    int line = 0;
    const PyCodeObject* const code = belljar_code_of_frame(frame, &line);
    if (code == nullptr) continue;
    const size_t begin = record.text().size();
    record.Text(code->co_filename, kMaxFile);
    const std::string_view file = record.From(begin);
    if (IsOfLibrary(file.substr(0, file.size() - 1))) {
      record.CutTo(begin);
      continue;
    }
    record.Text(code->co_name, kMaxFunction);
    record.Number(line);
    ++places;
  }
  RecordPlaces(record.text());
}

void HandleStop(int) {
  // The state of this kernel thread, which may be waiting without the interpreter lock.
  if (const PyThreadState* state = PyGILState_GetThisThreadState()) RecordFrames(state);
  _exit(kStopped);
}

}  // namespace

core::Result<void> InstallPlacesHandler(std::vector<std::string> library) {
  g_library = new std::vector<std::string>(std::move(library));
  struct sigaction action {};
  action.sa_handler = HandleStop;
  action.sa_flags = SA_ONSTACK;
  sigfillset(&action.sa_mask);
  if (sigaction(core::PlacesSignal(), &action, nullptr) != 0)
    return core::SystemError("install the handler of a stop");
  return {};
}

}  // namespace belljar::inside
