// The program belljar-zygote. Not for people: the host starts it with its control socket.
#include "engine/inside/control_socket.h"
#include "engine/inside/zygote.h"

#ifdef __SANITIZE_ADDRESS__
// Looking for leaks needs ptrace and /proc, which the sealed have not; and what the embedded
// interpreter keeps until the end is no leak of ours. The environment cannot say so: the host hands
// none on.
extern "C" const char* __asan_default_options() { return "detect_leaks=0:abort_on_error=1"; }
#endif

int main() {
  if (!belljar::inside::HasControlSocket()) return 2;
  return belljar::inside::RunZygote(belljar::core::UniqueFd(belljar::core::kZygoteControlFd));
}
