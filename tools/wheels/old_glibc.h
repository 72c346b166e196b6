// Included first in each C++ source of a wheel (tools/cmake/BelljarOldGlibc.cmake): what our
// sources use of this machine's C library, and the one that the wheel is for does not have.
#pragma once

#include <bits/c++config.h>
#include <stddef.h>
#include <sys/mount.h>  // before <linux/mount.h>, whose macros are the names of its enumerators

// libstdc++ was configured for this machine's: these functions are of glibc 2.30. Without them,
// waiting by a steady clock waits by the system's clock and looks again.
#undef _GLIBCXX_USE_PTHREAD_COND_CLOCKWAIT
#undef _GLIBCXX_USE_PTHREAD_MUTEX_CLOCKLOCK
#undef _GLIBCXX_USE_PTHREAD_RWLOCK_CLOCKLOCK

#define P_PIDFD static_cast<idtype_t>(3)  // glibc 2.36

extern "C" {

const char* strerrorname_np(int error) noexcept;                     // 2.32
const char* strerrordesc_np(int error) noexcept;                     // 2.32
const char* sigabbrev_np(int signal) noexcept;                       // 2.32
const char* sigdescr_np(int signal) noexcept;                        // 2.32
int close_range(unsigned first, unsigned last, int flags) noexcept;  // 2.34

// 2.33
struct mallinfo2 {
  size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
struct mallinfo2 mallinfo2() noexcept;
}
