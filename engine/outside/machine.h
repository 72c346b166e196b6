// What this machine can give: each layer and tool, found or not, why it matters, how to get it.
#ifndef BELLJAR_ENGINE_OUTSIDE_MACHINE_H_
#define BELLJAR_ENGINE_OUTSIDE_MACHINE_H_

#include <string>
#include <vector>

namespace belljar::outside {

struct MachineCheck {
  enum class Need {
    kAlways,    // nothing runs without it
    kStrict,    // --isolation strict refuses without it
    kOptional,  // reported only
  };

  std::string name;
  Need need = Need::kOptional;
  bool found = false;
  std::string detail;  // what was seen
  std::string why;     // what it is for
  std::string how;     // how to get it; for a machine where it was not found
};

// The kernel's version, then the layers of the seal that a kernel may lack, in their order.
std::vector<MachineCheck> CheckKernel();

// Programs that the benchmark can use.
std::vector<MachineCheck> CheckTools();

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_MACHINE_H_
