// Where programs of other languages find packages that are installed for them: empty directories in
// their private root, on which folders of this machine can be shown (mounts/attached_folder.h). For
// what is mounted later, Landlock asks for a rule of the folder that the mount point is in.
#ifndef BELLJAR_ENGINE_CORE_PACKAGE_PLACES_H_
#define BELLJAR_ENGINE_CORE_PACKAGE_PLACES_H_

namespace belljar::core {

inline constexpr char kPackages[] = "/packages";
inline constexpr char kPythonPackages[] = "/packages/python";      // in PYTHONPATH
inline constexpr char kNodePackages[] = "/packages/node_modules";  // in NODE_PATH
// A link to the latter: where Node.js looks for the modules that a program in /workspace imports.
inline constexpr char kNodeModules[] = "/node_modules";

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_PACKAGE_PLACES_H_
