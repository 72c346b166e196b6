// The functions that a loaded library imports: the slots that the dynamic linker filled (elf(5);
// the System V ABI, "Dynamic Linking").
#ifndef BELLJAR_ENGINE_INSIDE_GUARDS_IMPORTED_FUNCTIONS_H_
#define BELLJAR_ENGINE_INSIDE_GUARDS_IMPORTED_FUNCTIONS_H_

namespace belljar::inside::guards {

// Makes the library that contains `inside` call `replacement` instead of the function `symbol`;
// other libraries are not affected. False if it has no slot for it, or if the slots of this
// architecture are not supported (x86-64's and aarch64's are). Before there are threads.
bool ReplaceImportedFunction(const void* inside, const char* symbol, void* replacement);

}  // namespace belljar::inside::guards

#endif  // BELLJAR_ENGINE_INSIDE_GUARDS_IMPORTED_FUNCTIONS_H_
