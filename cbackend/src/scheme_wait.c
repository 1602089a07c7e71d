/* The processor that a thread lends while it waits in vain.
 *
 * Yielding costs least while only threads of this run want the processor: the one that is waited for has it at once. Beside
 * other programs each yield costs as long as these may keep the processor, and a wait takes hundreds of yields: with two of
 * them on each processor, threads then get less than a hundredth of it. A thread that sleeps for a moment is let in when it
 * wakes. So a yield that took long is followed by sleeps.
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include <sched.h>
#include <time.h>

#include "scheme.h"

enum { LONG_NS = 500000, SLEEPS = 256, SECOND_NS = 1000000000 };

/* The time of day: a step of it costs some sleeps, and test_choice makes up the clock that evaluators are measured by. */
static int64_t now_ns(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

void vp_lend_processor(void)
{
    static _Thread_local uint32_t sleeps;
    if (sleeps > 0) {
        sleeps--;
        nanosleep(&(struct timespec){.tv_nsec = 1}, NULL);
        return;
    }
    int64_t before = now_ns();
    sched_yield();
    if (now_ns() - before > LONG_NS)
        sleeps = SLEEPS;
}
