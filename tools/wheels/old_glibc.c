// Linked into each program and library of a wheel: functions of newer C libraries than the one that
// it is for, as far as our sources (old_glibc.h) or libstdc++.a of Debian 12 use them. Hidden, so
// that nothing else in the process finds them.
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

// libstdc++: whether a plain increment may replace an atomic one. Never is always right.
char __libc_single_threaded = 0;

// libstdc++: std::random_device.
uint32_t arc4random(void) {
  uint32_t value;
  if (getentropy(&value, sizeof value) != 0) abort();
  return value;
}

// libstdc++: std::terminate then prints the mangled name of an exception's type. The demangler
// takes some 20 kB, compressed, in each program.
char* __cxa_demangle(const char* name, char* buffer, size_t* length, int* status) {
  (void)name, (void)buffer, (void)length;
  if (status) *status = -2;  // no valid name
  return NULL;
}

// The cases are made from the system's headers: `case 2: return "ENOENT";` (sysroot.sh).
const char* strerrorname_np(int error) {
  switch (error) {
#include "error_names.h"
    default: return NULL;
  }
}

const char* sigabbrev_np(int signal) {
  switch (signal) {
#include "signal_names.h"
    default: return NULL;
  }
}

// Between fork and exec too: in the locale C, which all programs keep, it only looks up a table.
const char* strerrordesc_np(int error) { return strerror(error); }

const char* sigdescr_np(int signal) { return sigabbrev_np(signal) ? strsignal(signal) : NULL; }

int close_range(unsigned first, unsigned last, int flags) {
  return (int)syscall(SYS_close_range, first, last, flags);
}

struct mallinfo2 {
  size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};

// In fewer bits, which suffice: read is only keepcost, the unused end of the heap, of some KiB.
struct mallinfo2 mallinfo2(void) {
  const struct mallinfo small = mallinfo();
  return (struct mallinfo2){
      (unsigned)small.arena,    (unsigned)small.ordblks,  (unsigned)small.smblks,
      (unsigned)small.hblks,    (unsigned)small.hblkhd,   (unsigned)small.usmblks,
      (unsigned)small.fsmblks,  (unsigned)small.uordblks, (unsigned)small.fordblks,
      (unsigned)small.keepcost,
  };
}

// SQLite's archive: SQL functions that nothing here calls. Those of glibc 2.29 differ from the
// first ones in how they report errors.
#ifdef __aarch64__
#define FIRST_GLIBC "GLIBC_2.17"
#else
#define FIRST_GLIBC "GLIBC_2.2.5"
#endif
#define OF_FIRST_GLIBC(name)                                 \
  __asm__(".symver first_" #name "," #name "@" FIRST_GLIBC); \
  extern __attribute__((visibility("default"))) __typeof__(name) first_##name
double exp(double x);
double log(double x);
double pow(double x, double y);
OF_FIRST_GLIBC(exp);
OF_FIRST_GLIBC(log);
OF_FIRST_GLIBC(pow);
double exp(double x) { return first_exp(x); }
double log(double x) { return first_log(x); }
double pow(double x, double y) { return first_pow(x, y); }
