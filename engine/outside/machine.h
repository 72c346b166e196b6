// What this machine provides: each layer and tool, whether it was found, why it matters, how to get
// it.
#ifndef BELLJAR_ENGINE_OUTSIDE_MACHINE_H_
#define BELLJAR_ENGINE_OUTSIDE_MACHINE_H_

#include <string>
#include <vector>

namespace belljar::outside {

struct MachineCheck {
  enum class Need {
    kAlways,    // required for any run
    kStrict,    // required for --isolation strict
    kOptional,  // only reported
  };

  std::string name;
  Need need = Need::kOptional;
  bool found = false;
  std::string detail;  // what was found
  std::string why;     // what it is for
  std::string how;     // how to get it, if it was not found
};

// The kernel's version, then the layers of the seal that a kernel may lack, in order.
std::vector<MachineCheck> CheckKernel();

// Programs that the benchmark can use.
std::vector<MachineCheck> CheckTools();

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_MACHINE_H_
