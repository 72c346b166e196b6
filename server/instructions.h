// Instructions that the server sends to a model when a client connects.
#ifndef BELLJAR_SERVER_INSTRUCTIONS_H_
#define BELLJAR_SERVER_INSTRUCTIONS_H_

namespace belljar::server {

inline constexpr char kInstructions[] =
    "Belljar runs Python in a sealed sandbox: use execute_code to compute, to check a claim, to "
    "transform data or to try an algorithm. In its answers, lines that begin with [belljar: are "
    "the "
    "sandbox's; everything else comes from the program. An answer with isError is about the code: "
    "read the error and its hint, fix the code and call again.";

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_INSTRUCTIONS_H_
