// Whether this process was started as a zygote, for the two programs that may become one.
#ifndef BELLJAR_ENGINE_INSIDE_CONTROL_SOCKET_H_
#define BELLJAR_ENGINE_INSIDE_CONTROL_SOCKET_H_

#include <sys/socket.h>

#include <cstdio>

#include "engine/core/wire.h"

namespace belljar::inside {

// Without a control socket, prints a message for a user who ran the program directly, and returns
// false.
inline bool HasControlSocket() {
  int type = 0;
  socklen_t size = sizeof type;
  if (getsockopt(core::kZygoteControlFd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
      type == SOCK_SEQPACKET) {
    return true;
  }
  fprintf(stderr,
          "belljar-zygote is started by belljar and is not meant to be run directly.\n"
          "Try: belljar run --help\n");
  return false;
}

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_CONTROL_SOCKET_H_
