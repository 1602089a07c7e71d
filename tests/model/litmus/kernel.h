/* The kernel's part of a futex, for bell.c: who waits is asleep, and its thread ends there.
 *
 * So no run hangs: whether somebody was left asleep is seen once all threads have ended. The comparison
 * and falling asleep are one step under a lock that waking takes, too, as in the kernel.
 */
#ifndef VIPER_LITMUS_KERNEL_H
#define VIPER_LITMUS_KERNEL_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "litmus.h"

static pthread_mutex_t kernel = PTHREAD_MUTEX_INITIALIZER;
static bool asleep, was_asleep; /* the one thread that ever waits */

/* Without regard to the timeout: nobody wakes by himself. */
static void futex(_Atomic uint32_t *word, int operation, uint32_t value, const void *timeout)
{
    (void)timeout;
    pthread_mutex_lock(&kernel);
    if (operation == FUTEX_WAKE)
        asleep = false;
    else /* Relaxed: the lock orders it. */
        asleep = atomic_load_explicit(word, memory_order_relaxed) == value;
    bool fell_asleep = operation == FUTEX_WAIT && asleep;
    was_asleep |= fell_asleep;
    pthread_mutex_unlock(&kernel);
    if (fell_asleep) {
        leave_steps();
        pthread_exit(NULL);
    }
}

#define syscall(number, word, operation, value, timeout, ...) futex(word, operation, value, timeout)

#endif
