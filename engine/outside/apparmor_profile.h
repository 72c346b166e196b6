// AppArmor's restriction of user namespaces (Ubuntu 23.10 and later): a program without a profile
// that has "userns," gets no capabilities in a user namespace that it creates, and so cannot mount.
//
// https://gitlab.com/apparmor/apparmor/-/wikis/unprivileged_userns_restriction
#ifndef BELLJAR_ENGINE_OUTSIDE_APPARMOR_PROFILE_H_
#define BELLJAR_ENGINE_OUTSIDE_APPARMOR_PROFILE_H_

#include <string>
#include <string_view>

namespace belljar::outside {

// The text of a profile that lifts the restriction for one program, and restricts nothing. It is
// for the program that opens sandboxes, not for its zygote: the namespaces exist before that
// starts. `program` is an absolute path without symbolic links.
std::string AppArmorProfile(std::string_view program);

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_APPARMOR_PROFILE_H_
