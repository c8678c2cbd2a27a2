/* Calls one function of a shared library at a list of arguments, in four rounding modes each.
 *
 *     driver LIBRARY SYMBOL FILE COUNT FIRST
 *
 * REAL is the type of argument and result, MANTISSA the bits of its significand; both are defined
 * by whoever compiles this. FILE holds a struct header, COUNT arguments, and room for 4 COUNT
 * results: to nearest, up, down and to zero for the first argument, and so on. Calls are made from
 * number FIRST on. FILE is mapped, so that what was written stays when a call is the last one;
 * `at` then says which call that was. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <float.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if MANTISSA == 24
_Static_assert(FLT_MANT_DIG == 24, "float is not binary32 here");
#elif MANTISSA == 53
_Static_assert(DBL_MANT_DIG == 53, "double is not binary64 here");
#else
_Static_assert(LDBL_MANT_DIG == 64, "long double is not the x87's here");
#endif

typedef REAL (*function)(REAL);

enum { LOADED = 1, NO_LIBRARY = 2, NO_SYMBOL = 3 };

struct header {
    volatile uint64_t at; /* number of the call under way */
    uint64_t state;
    char message[240]; /* the path of the library, or why there is none */
};

static struct header *header;

static void end_as(int state, const char *message) {
    snprintf(header->message, sizeof header->message, "%s", message ? message : "");
    header->state = (uint64_t)state;
    _exit(0);
}

/* The function, which must be the library's own: dlsym also looks into the libraries that this one
 * needs, and a symbol found there says nothing of this one. */
static function load(const char *library, const char *name) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        end_as(NO_LIBRARY, dlerror());
    void *symbol = dlsym(handle, name);
    if (!symbol)
        end_as(NO_SYMBOL, dlerror());
    Dl_info info = {0};
    struct link_map *wanted = NULL, *owner = NULL;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &wanted) ||
        !dladdr1(symbol, &info, (void **)&owner, RTLD_DL_LINKMAP) || owner != wanted) {
        char text[sizeof header->message];
        snprintf(text, sizeof text, "the symbol belongs to another library, %s",
                 info.dli_fname ? info.dli_fname : "?");
        end_as(NO_SYMBOL, text);
    }
    snprintf(header->message, sizeof header->message, "%s", wanted->l_name);
    header->state = LOADED;
    function found;
    memcpy(&found, &symbol, sizeof found); /* ISO C has no cast for this */
    return found;
}

static void *map(const char *path) {
    struct stat status;
    int file = open(path, O_RDWR);
    if (file < 0 || fstat(file, &status))
        return MAP_FAILED;
    void *start = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return start;
}

int main(int argc, char **argv) {
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    const struct rlimit none = {0, 0};
    if (argc != 6)
        return 1;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* without who started it, nobody would stop a hang */
    setrlimit(RLIMIT_CORE, &none);
    header = map(argv[3]);
    if (header == MAP_FAILED)
        return 1;
    const uint64_t count = strtoull(argv[4], NULL, 10);
    const volatile REAL *arguments = (const volatile REAL *)(header + 1);
    volatile REAL *results = (volatile REAL *)(arguments + count);
    const volatile function call = load(argv[1], argv[2]);
    for (uint64_t at = strtoull(argv[5], NULL, 10); at < 4 * count; at++) {
        header->at = at;
        fesetenv(FE_DFL_ENV); /* whatever the call before has left */
        fesetround(modes[at % 4]);
        results[at] = call(arguments[at / 4]);
    }
    header->at = 4 * count;
    _exit(0); /* the destructors of the library are not asked */
}
