// Rehearsal: what a guest does between the first byte of a request and the last of its outcome,
// done once for nobody while it still comes up. Under gVisor each page of code, stack and heap that
// is touched for the first time costs tenths of a millisecond, and a run has some dozens of them.
#ifndef BELLJAR_CONTAINER_INSIDE_REHEARSAL_H_
#define BELLJAR_CONTAINER_INSIDE_REHEARSAL_H_

namespace belljar::container::inside {

// Each on the thread that will do it in earnest. What goes wrong costs time and nothing else.
void RehearseListening();
void RehearseAnswering();

}  // namespace belljar::container::inside

#endif  // BELLJAR_CONTAINER_INSIDE_REHEARSAL_H_
