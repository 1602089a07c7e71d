#define _GNU_SOURCE /* memfd_create and its seals */

#include "viper/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "crash.h"

/* Gives an open segment its size; closes it if that fails. */
static int sized(int segment, uint64_t size)
{
    if (segment < 0 || !ftruncate(segment, (off_t)size))
        return segment;
    int reason = errno;
    close(segment);
    errno = reason;
    return -1;
}

#if defined(MFD_ALLOW_SEALING) && !defined(VP_PORTABLE)
int vp_segment_anonymous(uint64_t size)
{
    int segment = sized(memfd_create("viperstorm", MFD_CLOEXEC | MFD_ALLOW_SEALING), size);
    /* Whoever has it mapped would be killed by a page that is gone. */
    if (segment >= 0)
        (void)fcntl(segment, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return segment;
}
#else
int vp_segment_anonymous(uint64_t size)
{
    (void)size;
    errno = ENOSYS;
    return -1;
}
#endif

int vp_segment_named(const char *name, uint64_t size)
{
    int segment = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (segment < 0)
        return -1;
    VP_CRASH_POINT("segment: named");
    shm_unlink(name);
    return sized(segment, size);
}

int vp_segment_remove(const char *name)
{
    return shm_unlink(name);
}
