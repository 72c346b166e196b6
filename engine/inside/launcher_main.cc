// The program belljar-launcher. Not for users: the host starts it with its control socket.
#include "engine/inside/control_socket.h"
#include "engine/inside/launcher.h"

#ifdef __SANITIZE_ADDRESS__
// As for belljar-zygote: a sealed process has no ptrace.
extern "C" const char* __asan_default_options() { return "detect_leaks=0:abort_on_error=1"; }
#endif

int main() {
  if (!belljar::inside::HasControlSocket()) return 2;
  return belljar::inside::RunLauncher(belljar::core::UniqueFd(belljar::core::kZygoteControlFd));
}
