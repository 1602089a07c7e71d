/* Death. The kernel marks the lock of a thread that has ended, and wakes one who waits for it; who gets it next finds
 *        the mark, and makes it a plain lock again. Who dies with the lock in `vp_life_await_end` leaves it marked
 *        once more.
 */
#define _GNU_SOURCE /* robust locks */

#include "viper/life.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>

struct vp_life {
    pthread_mutex_t held;
};

uint64_t vp_life_size(void)
{
    return sizeof(vp_life);
}

#if defined(__linux__) && !defined(VP_PORTABLE)
vp_life *vp_life_format(void *region)
{
    vp_life *life = region;
    pthread_mutexattr_t kind;
    if (pthread_mutexattr_init(&kind))
        return NULL;
    int fault = pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    fault = fault ? fault : pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    fault = fault ? fault : pthread_mutex_init(&life->held, &kind);
    pthread_mutexattr_destroy(&kind);
    return fault ? NULL : life;
}

static bool take(vp_life *life)
{
    int fault = pthread_mutex_lock(&life->held);
    return fault == EOWNERDEAD ? !pthread_mutex_consistent(&life->held) : !fault;
}
#else
vp_life *vp_life_format(void *region)
{
    (void)region;
    return NULL;
}

static bool take(vp_life *life)
{
    (void)life;
    return false;
}
#endif

bool vp_life_begin(vp_life *life)
{
    return take(life);
}

bool vp_life_await_end(vp_life *life)
{
    return take(life) && !pthread_mutex_unlock(&life->held);
}
