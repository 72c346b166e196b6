// What a program of another language shows beside its result: the files that it leaves in a folder
// (core::ProgramRule::shows). Images become "figure-1.png" and so on, in the order of their names,
// and other files keep theirs.
//
// Worker, while nothing of the program runs. The files are hostile, and the host trusts neither
// them nor this list of them (engine/run/report.h); what does not fit here is only counted.
#ifndef BELLJAR_ENGINE_INSIDE_SHOWN_FILES_H_
#define BELLJAR_ENGINE_INSIDE_SHOWN_FILES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace belljar::inside {

using FileNotes = std::map<std::string, std::string>;  // by name of the file

struct ShownFile {
  std::string name;
  const char* media_type;
  std::string note;
  uint64_t offset = 0;  // among the artifacts of the capture
  size_t size = 0;
};
struct ShownFiles {
  std::vector<ShownFile> files;
  size_t left_out = 0;
};

// Moves them into the capture. `folder`: empty if there is none.
ShownFiles TakeShownFiles(const std::string& folder, const FileNotes& notes);

// As in a report of Python's (engine/inside/runner/display.py).
void AddShownFiles(const ShownFiles& shown, nlohmann::json& report);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_SHOWN_FILES_H_
