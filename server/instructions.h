// What the server tells a model about itself when a client connects.
#ifndef BELLJAR_SERVER_INSTRUCTIONS_H_
#define BELLJAR_SERVER_INSTRUCTIONS_H_

namespace belljar::server {

inline constexpr char kInstructions[] =
    "Belljar runs Python code in a sealed sandbox and returns what it printed, the value of its "
    "last expression (or of a variable named result) and, on failure, the traceback. Use "
    "execute_code to compute, to check a claim, to transform data or to try an algorithm. Each "
    "call starts in a fresh process: no state is kept between calls, so send everything the code "
    "needs. "
    "There are no files, no network and no packages unless get_sandbox_info says so; call it once "
    "for the importable modules and the time and memory limits. validate_code reports what would "
    "be refused, and what to write instead, without running anything. A result "
    "with isError true is about the code, not about the sandbox: read error.message and "
    "error.hint, fix the code and call again.";

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_INSTRUCTIONS_H_
