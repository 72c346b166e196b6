// The versions that the build was made with.
#ifndef BELLJAR_ENGINE_CORE_VERSION_H_
#define BELLJAR_ENGINE_CORE_VERSION_H_

namespace belljar {

extern const char* const kBelljarVersion;
extern const char* const kPythonVersion;  // of the interpreter that the zygote embeds

}  // namespace belljar

#endif  // BELLJAR_ENGINE_CORE_VERSION_H_
