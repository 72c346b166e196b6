// What a loaded library calls by name: the slots that the dynamic linker filled for it (elf(5); the
// System V ABI, "Dynamic Linking").
#ifndef BELLJAR_ENGINE_INSIDE_GUARDS_IMPORTED_FUNCTIONS_H_
#define BELLJAR_ENGINE_INSIDE_GUARDS_IMPORTED_FUNCTIONS_H_

namespace belljar::inside::guards {

// The library with `inside` in it calls `replacement` where it called the function `symbol`; other
// libraries do not. False where it has no slot for that, or this machine's kind of slots is unknown
// (all but x86-64). Before there are threads.
bool ReplaceImportedFunction(const void* inside, const char* symbol, void* replacement);

}  // namespace belljar::inside::guards

#endif  // BELLJAR_ENGINE_INSIDE_GUARDS_IMPORTED_FUNCTIONS_H_
