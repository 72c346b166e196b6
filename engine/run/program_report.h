// Reads what a worker of a launcher reports of a program of another language, or of a cell of its
// session. The program itself writes some of it, and a hostile process may have written all of it.
#ifndef BELLJAR_ENGINE_RUN_PROGRAM_REPORT_H_
#define BELLJAR_ENGINE_RUN_PROGRAM_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/host/outcome.h"
#include "engine/host/request.h"

namespace belljar::run {

// The metadata of the request to such a worker (core::ProgramRequest).
std::string ProgramMetadata(const host::Request& request);

// Fills in the worker's part of the outcome, in which result and repr have at most `max_size` bytes
// together; of more the repr is left out, and then the result. False, with `outcome` unchanged, if
// the report is malformed. If only the interpreter's answer is, that is an error of the cell, and
// the session needs a new interpreter.
// `artifacts`: the bytes that contain what it shows.
bool ReadProgramReport(std::string_view report, uint64_t max_size, host::Outcome& outcome,
                       std::string_view artifacts = {});

}  // namespace belljar::run

#endif  // BELLJAR_ENGINE_RUN_PROGRAM_REPORT_H_
