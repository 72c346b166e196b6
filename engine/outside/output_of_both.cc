#include "engine/outside/output_of_both.h"

#include <algorithm>
#include <utility>

namespace belljar::outside {
namespace {

constexpr std::string_view kNote =
    "belljar: the program was restarted, because it imports a module that its text does not "
    "name; its output is different now:\n";

}  // namespace

OutputOfBoth::OutputOfBoth(const run::OutputSink& sink) : sink_(sink) {
  through_.on_stdout = [this](std::string_view bytes) { Show(stdout_, sink_.on_stdout, bytes); };
  through_.on_stderr = [this](std::string_view bytes) { Show(stderr_, sink_.on_stderr, bytes); };
}

void OutputOfBoth::Show(Stream& stream, const std::function<void(std::string_view)>& show,
                        std::string_view bytes) {
  if (!show) return;
  if (!is_second_) {
    stream.shown += bytes;
    return show(bytes);
  }
  if (!stream.differs) {
    const std::string_view left = std::string_view(stream.shown).substr(stream.repeated);
    const size_t both = std::min(left.size(), bytes.size());
    if (left.substr(0, both) == bytes.substr(0, both)) {
      stream.repeated += both;
      bytes.remove_prefix(both);
    } else {
      stream.differs = true;
      if (!std::exchange(has_said_so_, true) && sink_.on_stderr) sink_.on_stderr(kNote);
      show(std::string_view(stream.shown).substr(0, stream.repeated));
    }
  }
  if (!bytes.empty()) show(bytes);
}

}  // namespace belljar::outside
