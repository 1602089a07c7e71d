/* Roles.       Anybody rings. Sleepers count themselves.
 * Order.       B0: whoever rings has made what it rings for visible before it adds to sequence (release,
 *              as part of seq_cst); a ticket that shows the ring (B1, acquire) shows that too.
 * No ring is lost. A sleeper adds itself to sleepers (B2) before it looks at sequence (B3); whoever rings
 *              adds to sequence (B0) before it looks at sleepers (B4). All four are seq_cst, so in their
 *              one order either B0 stands before B3, and the sleeper sees that it need not sleep, or B2
 *              before B4, and it is woken. Between B3 and sleep the kernel looks once more, under the
 *              lock that waking takes, too. With weaker orders each could miss the other's word.
 * Death.       Who dies between B0 and waking leaves sleepers asleep, but counted: the next ring wakes
 *              them. Whoever notices a death rings (vp_ring_recover, vp_ring_close). Who dies asleep
 *              stays counted: that costs a system call per ring, until vp_bell_take_over.
 * Wrap-around. A sleeper would have to be held up between B1 and B3 for exactly 2^32 rings.
 * Progress.    A ring is wait-free.
 */
#define _GNU_SOURCE /* syscall, nanosleep */

#include <limits.h>
#include <time.h>

#include "crash.h"
#include "layout.h"

enum { SECOND_NS = 1000000000 };

uint64_t vp_bell_size(void)
{
    return sizeof(vp_bell);
}

uint32_t vp_bell_ticket(const vp_bell *bell)
{
    return atomic_load_explicit(&bell->sequence, memory_order_acquire); /* B1 <- B0 */
}

#if defined(__linux__) && !defined(VP_PORTABLE)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not the private kind: other processes sleep on the same word. */
static void sleep_while(vp_bell *bell, uint32_t ticket, int64_t timeout_ns)
{
    const struct timespec timeout = {.tv_sec = timeout_ns / SECOND_NS, .tv_nsec = timeout_ns % SECOND_NS};
    syscall(SYS_futex, &bell->sequence, FUTEX_WAIT, ticket, &timeout, NULL, 0);
}

static void wake(vp_bell *bell)
{
    syscall(SYS_futex, &bell->sequence, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
#else
/* Looks again after a growing pause; ends early for a signal. */
static void sleep_while(vp_bell *bell, uint32_t ticket, int64_t timeout_ns)
{
    enum { FIRST_NS = 20000, LONGEST_NS = 1000000 };
    int64_t pause = FIRST_NS;
    while (timeout_ns > 0 && vp_bell_ticket(bell) == ticket) {
        pause = pause < timeout_ns ? pause : timeout_ns;
        if (nanosleep(&(struct timespec){.tv_nsec = (long)pause}, NULL))
            return;
        timeout_ns -= pause;
        pause = 2 * pause < LONGEST_NS ? 2 * pause : LONGEST_NS;
    }
}

static void wake(vp_bell *bell)
{
    (void)bell;
}
#endif

void vp_bell_wait(vp_bell *bell, uint32_t ticket, int64_t timeout_ns)
{
    if (timeout_ns <= 0)
        return;
    atomic_fetch_add_explicit(&bell->sleepers, 1, memory_order_seq_cst); /* B2 */
    VP_CRASH_POINT("bell: counted");
    if (atomic_load_explicit(&bell->sequence, memory_order_seq_cst) == ticket) /* B3 */
        sleep_while(bell, ticket, timeout_ns);
    /* Relaxed: counted for a moment longer, it costs a system call. */
    atomic_fetch_sub_explicit(&bell->sleepers, 1, memory_order_relaxed);
}

void vp_bell_ring(vp_bell *bell)
{
    VP_CRASH_POINT("bell: not yet");
    atomic_fetch_add_explicit(&bell->sequence, 1, memory_order_seq_cst); /* B0 -> B1 */
    VP_CRASH_POINT("bell: rung");
    if (atomic_load_explicit(&bell->sleepers, memory_order_seq_cst) > 0) /* B4 */
        wake(bell);
}

void vp_bell_take_over(vp_bell *bell)
{
    /* Relaxed: the caller's own sleep comes later in its program. */
    atomic_store_explicit(&bell->sleepers, 0, memory_order_relaxed);
}
