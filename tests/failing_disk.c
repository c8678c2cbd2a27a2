/* LD_PRELOAD: lets the n-th call that changes something below a directory fail, and writes down
 * what was changed.
 *
 * fail_at(n, mode, directory) arms it: from the n-th such call on (once, if mode is not "full"),
 *   0: whatever needs room (write, pwrite, ftruncate, mkdir, making a file) fails with ENOSPC, and
 *      goes on to: the disk is full;
 *   1: that one call fails with EIO, whatever it is: write, fsync, rename, unlink, ...;
 *   2: that one write writes half of what it should;
 *   3: the process dies before that call.
 * calls() is how many there were. record(file, directory) writes each of them, with its data, to a
 * file: tests/power_cut.py reads it. Calls by file descriptor look up its path in /proc.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static long at = -1, count = 0;
static int how = 0, to = -1;
static char below[4096];

void fail_at(long n, int mode, const char *directory) {
  snprintf(below, sizeof below, "%s", directory);
  at = n;
  how = mode;
  count = 0;
}

long calls(void) { return count; }

void record(const char *file, const char *directory) {
  to = REAL(open)(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
  fail_at(1L << 60, 1, directory);
}

/* A line: the call, path, offset, how many bytes follow; then these. Tests note things of their own. */
void note(const char *call, const char *path, long offset, const void *data, size_t size) {
  char line[8192];
  if (to < 0) return;
  int length = snprintf(line, sizeof line, "%s\t%s\t%ld\t%zu\n", call, path, offset, size);
  REAL(write)(to, line, length);
  if (size) REAL(write)(to, data, size);
}

static int is_below(const char *path) {
  return at >= 0 && strncmp(path, below, strlen(below)) == 0;
}

/* 0: go on; -1: fail, errno is set; 1: write half. */
static int fate(const char *path, int needs_room) {
  if (!is_below(path)) return 0;
  long n = __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
  if (how == 0 && n >= at && needs_room) return errno = ENOSPC, -1;
  if (n != at) return 0;
  if (how == 1) return errno = EIO, -1;
  if (how == 2 && needs_room) return 1;
  if (how == 3) kill(getpid(), SIGKILL);
  return 0;
}

/* Sets path to that of the descriptor, or to "". */
static int fate_of(int descriptor, int needs_room, char *path) {
  char link[64];
  path[0] = 0;
  if (at < 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, 4095);
  path[length < 0 ? 0 : length] = 0;
  return fate(path, needs_room);
}

static ssize_t noted(ssize_t done, const char *path, off_t offset, const void *data) {
  if (done > 0 && is_below(path)) note("write", path, offset, data, done);
  return done;
}

ssize_t write(int descriptor, const void *data, size_t size) {
  char path[4096];
  int f = fate_of(descriptor, 1, path);
  if (f < 0) return -1;
  ssize_t done = REAL(write)(descriptor, data, f && size > 1 ? size / 2 : size);
  return noted(done, path, to < 0 ? 0 : lseek(descriptor, 0, SEEK_CUR) - done, data);
}

ssize_t pwrite(int descriptor, const void *data, size_t size, off_t offset) {
  char path[4096];
  int f = fate_of(descriptor, 1, path);
  if (f < 0) return -1;
  size_t part = f && size > 1 ? size / 2 : size;
  return noted(REAL(pwrite)(descriptor, data, part, offset), path, offset, data);
}

ssize_t pwrite64(int descriptor, const void *data, size_t size, off64_t offset) {
  return pwrite(descriptor, data, size, offset);
}

int ftruncate(int descriptor, off_t size) {
  char path[4096];
  if (fate_of(descriptor, 1, path) < 0) return -1;
  if (is_below(path)) note("truncate", path, size, 0, 0);
  return REAL(ftruncate)(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

int fsync(int descriptor) {
  char path[4096];
  if (fate_of(descriptor, 0, path) < 0) return -1;
  if (is_below(path)) note("sync", path, 0, 0, 0);
  return REAL(fsync)(descriptor);
}

int fdatasync(int descriptor) {
  char path[4096];
  if (fate_of(descriptor, 0, path) < 0) return -1;
  if (is_below(path)) note("sync", path, 0, 0, 0);
  return REAL(fdatasync)(descriptor);
}

int rename(const char *from, const char *onto) {
  if (fate(from, 0) < 0) return -1;
  int failed = REAL(rename)(from, onto);
  if (!failed && is_below(from)) note("rename", from, 0, onto, strlen(onto));
  return failed;
}

int unlink(const char *path) {
  if (fate(path, 0) < 0) return -1;
  int failed = REAL(unlink)(path);
  if (!failed && is_below(path)) note("unlink", path, 0, 0, 0);
  return failed;
}

/* Of a directory that is removed with what it holds; what is recorded has none. */
int unlinkat(int directory, const char *name, int flags) {
  char path[4096];
  return fate_of(directory, 0, path) < 0 ? -1 : REAL(unlinkat)(directory, name, flags);
}

int rmdir(const char *path) { return fate(path, 0) < 0 ? -1 : REAL(rmdir)(path); }

int mkdir(const char *path, mode_t mode) {
  if (fate(path, 1) < 0) return -1;
  int failed = REAL(mkdir)(path, mode);
  if (!failed && is_below(path)) note("mkdir", path, 0, 0, 0);
  return failed;
}

/* Counts where it makes or empties a file. */
int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  int makes = flags & O_CREAT && access(path, F_OK) != 0, empties = flags & O_TRUNC;
  if ((makes || empties) && fate(path, 1) < 0) return -1;
  int descriptor = REAL(open)(path, flags, mode);
  if (descriptor >= 0 && is_below(path)) {
    if (makes) note("make", path, 0, 0, 0);
    if (empties && !makes) note("truncate", path, 0, 0, 0);
  }
  return descriptor;
}

int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open(path, flags | O_LARGEFILE, mode);
}
