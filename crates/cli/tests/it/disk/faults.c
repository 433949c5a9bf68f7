/* Loaded before the C library: makes what is written to a database fail, as a full or a broken disk would.
 * What fails is said by the file that TENON_FAULTS names, which the test and the program share. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

struct faults {
    int error; /* 0: nothing fails */
    int after; /* this many go well first */
    int times; /* and this many fail */
    int failed;
};

static struct faults *faults;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("TENON_FAULTS");
    int file = path ? open(path, O_RDWR) : -1;
    if (file < 0)
        return;
    void *shared = mmap(NULL, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    faults = shared == MAP_FAILED ? NULL : shared;
    close(file);
}

static int fails(int file)
{
    char link[32], path[1024];
    if (!faults || faults->error == 0)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    if (!strstr(path, "/tenon.db"))
        return 0;
    if (__sync_fetch_and_sub(&faults->after, 1) > 0)
        return 0;
    if (__sync_fetch_and_sub(&faults->times, 1) <= 0)
        return 0;
    __sync_fetch_and_add(&faults->failed, 1);
    errno = faults->error;
    return 1;
}

#define NEXT(name) __typeof__(&name) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int file, const void *bytes, size_t count)
{
    NEXT(write);
    return fails(file) ? -1 : next(file, bytes, count);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at)
{
    NEXT(pwrite);
    return fails(file) ? -1 : next(file, bytes, count, at);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at)
{
    NEXT(pwrite64);
    return fails(file) ? -1 : next(file, bytes, count, at);
}

int ftruncate(int file, off_t length)
{
    NEXT(ftruncate);
    return fails(file) ? -1 : next(file, length);
}

int ftruncate64(int file, off64_t length)
{
    NEXT(ftruncate64);
    return fails(file) ? -1 : next(file, length);
}

int fsync(int file)
{
    NEXT(fsync);
    return fails(file) ? -1 : next(file);
}

int fdatasync(int file)
{
    NEXT(fdatasync);
    return fails(file) ? -1 : next(file);
}
