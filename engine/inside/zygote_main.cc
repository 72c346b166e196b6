// The program belljar-zygote. Not for users: the host starts it with its control socket.
#include "engine/inside/control_socket.h"
#include "engine/inside/zygote.h"

#ifdef __SANITIZE_ADDRESS__
// Leak detection needs ptrace and /proc, which sealed processes do not have, and what the embedded
// interpreter keeps until the end is not our leak. Not set by environment: the host passes none on.
extern "C" const char* __asan_default_options() { return "detect_leaks=0:abort_on_error=1"; }
#endif

int main() {
  if (!belljar::inside::HasControlSocket()) return 2;
  return belljar::inside::RunZygote(belljar::core::UniqueFd(belljar::core::kZygoteControlFd));
}
