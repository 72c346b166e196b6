// belljar-zygote.so: the zygote, as loaded by belljar-preload.so into an interpreter's own program.
#include "engine/core/wire.h"
#include "engine/inside/zygote.h"

extern "C" int belljar_zygote_main() {
  return belljar::inside::RunZygote(belljar::core::UniqueFd(belljar::core::kZygoteControlFd));
}
