// The commands of a session: any number at a time, each with the descriptors that the host has made
// for it. None of their output passes through here.
//
// The worker is the first process of their PID namespace, so no program can signal it. Below it,
// each command has a supervisor of its own: a clone of the worker that starts the command, adopts
// what the command leaves behind (PR_SET_CHILD_SUBREAPER), and can so end all of it. A program may
// kill a supervisor; then all commands of the session are killed.
#ifndef BELLJAR_ENGINE_INSIDE_COMMAND_SERVER_H_
#define BELLJAR_ENGINE_INSIDE_COMMAND_SERVER_H_

namespace belljar::inside {

// Serves CommandOrders (core/command_messages.h) until the host closes the socket. SIGCHLD is
// blocked.
[[noreturn]] void ServeCommands(int socket);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_COMMAND_SERVER_H_
