// What a program of another language shows beside its result: the files that it leaves in a folder
// (core::ProgramRule::shows). Images become "figure-1.png" and so on, in the order of their names,
// and other files keep theirs.
//
// Worker, while nothing of the program runs. The files are hostile, and the host trusts neither
// them nor this list of them (engine/run/program_report.h); what does not fit here is only counted.
#ifndef BELLJAR_ENGINE_INSIDE_SHOWN_FILES_H_
#define BELLJAR_ENGINE_INSIDE_SHOWN_FILES_H_

#include <string>

#include "engine/core/program_messages.h"

namespace belljar::inside {

// Moves them into the capture. `folder`: empty if there is none.
void TakeShownFiles(const std::string& folder, core::ProgramReport& report);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_SHOWN_FILES_H_
