// The C stack of the zygote's thread, on which every worker's program runs.
#ifndef BELLJAR_ENGINE_INSIDE_STACK_H_
#define BELLJAR_ENGINE_INSIDE_STACK_H_

namespace belljar::inside {

// Zygote, first: lets the stack grow further than the usual 8 MiB, if the machine permits. A call
// of Python that goes through C takes up to 900 bytes of it (sorted() with a key: 2,600), and a
// program may nest 100,000 (library/sys.py). Nothing is reserved: the kernel adds pages as they are
// touched, and they count towards the memory limit of the run.
void RaiseStackLimit();

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_STACK_H_
