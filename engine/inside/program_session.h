// A session in another language than Python: an interpreter that stays, and is given one cell after
// the other (core::ProgramRule::session). Between cells, all its processes are stopped. Or commands
// (command_server.h), which go on until they end.
#ifndef BELLJAR_ENGINE_INSIDE_PROGRAM_SESSION_H_
#define BELLJAR_ENGINE_INSIDE_PROGRAM_SESSION_H_

#include "engine/inside/program_init.h"
#include "engine/inside/program_worker.h"

namespace belljar::inside {

// Serves the orders of the host, of which the first is kBegin, until the interpreter has ended.
[[noreturn]] void ServeProgramSession(const ProgramStart& start, ProgramInit& init, int socket);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_PROGRAM_SESSION_H_
