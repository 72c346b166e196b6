// The versions that the build was made with.
#ifndef BELLJAR_ENGINE_HOST_VERSION_H_
#define BELLJAR_ENGINE_HOST_VERSION_H_

namespace belljar::host {

extern const char* const kBelljarVersion;
extern const char* const kPythonVersion;  // of the interpreter that the zygote embeds

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_VERSION_H_
