// Init: what PID 1 of a container has to do, and nothing else does there: take in the orphans, and
// pass on the signals that a PID 1 without handlers would not feel.
#ifndef BELLJAR_CONTAINER_INSIDE_INIT_H_
#define BELLJAR_CONTAINER_INSIDE_INIT_H_

namespace belljar::container::inside {

// Where this process is PID 1 it stays that, and returns in a child, which it waits for: reaping
// whatever ends, passing SIGTERM, SIGINT, SIGHUP and SIGQUIT on to the child as SIGTERM, and ending
// as it ends. With PID 1 the kernel ends all that is left. Anywhere else it returns at once.
//
// A child, because the engine waits for its own processes by their pidfds, and would lose them to
// one in the same process that reaps whatever ends. Before there are threads.
void BecomeInitIfFirst();

}  // namespace belljar::container::inside

#endif  // BELLJAR_CONTAINER_INSIDE_INIT_H_
