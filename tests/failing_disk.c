/* LD_PRELOAD: lets the n-th call that changes something below a directory fail.
 *
 * fail_at(n, mode, directory) arms it: from the n-th such call on (once, if mode is not "full"),
 *   0: write, pwrite and ftruncate fail with ENOSPC, and go on to: the disk is full;
 *   1: that one call fails with EIO, whatever it is: write, fsync, rename, unlink, ...;
 *   2: that one write writes half of what it should;
 *   3: the process dies before that call.
 * calls() is how many there were. Calls by file descriptor look up its path in /proc.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long at = -1, count = 0;
static int how = 0;
static char below[4096];

void fail_at(long n, int mode, const char *directory) {
  snprintf(below, sizeof below, "%s", directory);
  at = n;
  how = mode;
  count = 0;
}

long calls(void) { return count; }

/* 0: go on; -1: fail, errno is set; 1: write half. */
static int fate(const char *path, int writes) {
  if (at < 0 || strncmp(path, below, strlen(below)) != 0) return 0;
  long n = __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
  if (how == 0 && n >= at && writes) return errno = ENOSPC, -1;
  if (n != at) return 0;
  if (how == 1) return errno = EIO, -1;
  if (how == 2 && writes) return 1;
  if (how == 3) kill(getpid(), SIGKILL);
  return 0;
}

static int fate_of(int descriptor, int writes) {
  char link[64], path[4096];
  if (at < 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return fate(path, writes);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int descriptor, const void *data, size_t size) {
  int f = fate_of(descriptor, 1);
  return f < 0 ? -1 : REAL(write)(descriptor, data, f && size > 1 ? size / 2 : size);
}

ssize_t pwrite(int descriptor, const void *data, size_t size, off_t offset) {
  int f = fate_of(descriptor, 1);
  return f < 0 ? -1 : REAL(pwrite)(descriptor, data, f && size > 1 ? size / 2 : size, offset);
}

ssize_t pwrite64(int descriptor, const void *data, size_t size, off64_t offset) {
  int f = fate_of(descriptor, 1);
  return f < 0 ? -1 : REAL(pwrite64)(descriptor, data, f && size > 1 ? size / 2 : size, offset);
}

int ftruncate(int descriptor, off_t size) {
  return fate_of(descriptor, 1) < 0 ? -1 : REAL(ftruncate)(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) {
  return fate_of(descriptor, 1) < 0 ? -1 : REAL(ftruncate64)(descriptor, size);
}

int fsync(int descriptor) {
  return fate_of(descriptor, 0) < 0 ? -1 : REAL(fsync)(descriptor);
}

int fdatasync(int descriptor) {
  return fate_of(descriptor, 0) < 0 ? -1 : REAL(fdatasync)(descriptor);
}

int rename(const char *from, const char *to) {
  return fate(from, 0) < 0 ? -1 : REAL(rename)(from, to);
}

int unlink(const char *path) { return fate(path, 0) < 0 ? -1 : REAL(unlink)(path); }

int mkdir(const char *path, mode_t mode);
int mkdir(const char *path, mode_t mode) {
  return fate(path, 0) < 0 ? -1 : REAL(mkdir)(path, mode);
}
