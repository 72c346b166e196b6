/* A floor: fork, exit and wait of a small process. For each byte on standard input one sample, in
 * nanoseconds, to standard output. */
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

int main(void) {
  char command;
  while (read(0, &command, 1) == 1) {
    const uint64_t start = now();
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (child < 0 || waitpid(child, 0, 0) != child) return 1;
    const uint64_t sample = now() - start;
    if (write(1, &sample, sizeof sample) != sizeof sample) return 1;
  }
  return 0;
}
