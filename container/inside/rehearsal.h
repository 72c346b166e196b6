// Rehearsal: runs through everything between the first byte of a request and the last of its
// outcome once while the guest is starting. Under gVisor the first touch of each page of code,
// stack and heap costs tenths of a millisecond, and a run has some dozens of them.
#ifndef BELLJAR_CONTAINER_INSIDE_REHEARSAL_H_
#define BELLJAR_CONTAINER_INSIDE_REHEARSAL_H_

namespace belljar::container::inside {

// Each on the thread that will do the real work. Failures only cost time.
void RehearseListening();
void RehearseAnswering();

}  // namespace belljar::container::inside

#endif  // BELLJAR_CONTAINER_INSIDE_REHEARSAL_H_
