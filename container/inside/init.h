// Init: the duties of PID 1 in a container, which nothing else performs there: reaping orphans, and
// forwarding the signals that a PID 1 without handlers would ignore.
#ifndef BELLJAR_CONTAINER_INSIDE_INIT_H_
#define BELLJAR_CONTAINER_INSIDE_INIT_H_

namespace belljar::container::inside {

// If this process is PID 1, it stays PID 1 and returns in a child, for which it waits: it reaps
// every process that ends, forwards SIGTERM, SIGINT, SIGHUP and SIGQUIT to the child as SIGTERM,
// and exits with the child's status. When PID 1 ends, the kernel kills everything that is left. In
// any other process it returns false immediately.
//
// A child, because the engine waits for its own processes by pidfd, and would lose them to a reaper
// in the same process. Call before there are threads.
bool BecomeInitIfFirst();

}  // namespace belljar::container::inside

#endif  // BELLJAR_CONTAINER_INSIDE_INIT_H_
