/* A word for each group: the number behind the last tuple of it that a reader has come to, and who has the group.
 *
 * Order.    Who takes a group sees all that its last owner has changed: given up with release, taken with acquire. The
 *           word is changed by compare-and-swap only, and its number never goes back, so an owner gives a group up only
 *           where nothing more was left to it.
 * Death.    A group stays with its reader, whose successor goes on behind the tuples that were delivered to the dead
 *           one: these are lost, or counted as such. What was left to it behind them, it gets. It gives up at its
 *           beginning what it finds to be its own with nothing left.
 * Progress. Lock-free: an exchange fails only where another reader has come to the group's next tuple, or gone.
 * Cost.     One exchange for a tuple that is the first to come to, none for others. All words are looked at to give
 *           groups up: 256 of them are 32 lines.
 */
#include "viper/keyclaims.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "crash.h"
#include "layout.h"

enum { OWNER_BITS = 16 };
#define OWNERS ((UINT64_C(1) << OWNER_BITS) - 1)

struct vp_keyclaims {
    alignas(VP_LINE) uint32_t groups;
    alignas(VP_LINE) _Atomic uint64_t frontier;
    alignas(VP_LINE) _Atomic uint64_t words[]; /* number << OWNER_BITS | reader + 1; 0 in the lower bits: nobody's */
};

uint64_t vp_keyclaims_size(uint32_t groups)
{
    return sizeof(vp_keyclaims) + groups * sizeof(uint64_t);
}

vp_keyclaims *vp_keyclaims_format(void *region, uint32_t groups)
{
    vp_keyclaims *claims = region;
    claims->groups = groups;
    atomic_init(&claims->frontier, 0);
    for (uint32_t i = 0; i < groups; i++)
        atomic_init(&claims->words[i], 0);
    return claims;
}

/* Comes to a tuple of a group; whether it is the reader's. */
static bool come_to(_Atomic uint64_t *word, uint64_t me, uint64_t number)
{
    uint64_t found = atomic_load_explicit(word, memory_order_acquire), owner;
    do {
        owner = found & OWNERS;
        if (found >> OWNER_BITS > number) /* another has come to it: processed, or left to who has the group */
            return owner == me;
        owner = owner ? owner : me;
        VP_CRASH_POINT("key claim: not exchanged");
    } while (!atomic_compare_exchange_weak_explicit(word, &found, (number + 1) << OWNER_BITS | owner,
                                                    memory_order_acq_rel, memory_order_acquire));
    return owner == me;
}

uint64_t vp_keyclaims_take(vp_keyclaims *claims, uint32_t reader, uint64_t number, const uint16_t *groups, uint64_t most,
                           uint64_t *count, uint16_t *mine)
{
    uint64_t taken = 0, gone = 0;
    for (; gone < *count && taken < most; gone++) {
        mine[gone] = come_to(&claims->words[groups[gone]], reader + UINT64_C(1), number + gone);
        taken += mine[gone];
        VP_CRASH_POINT("key claim: come to a tuple");
    }
    *count = gone;
    const uint64_t end = number + gone;
    /* Relaxed: it is a hint for how far to go at once. */
    uint64_t frontier = atomic_load_explicit(&claims->frontier, memory_order_relaxed);
    while (frontier < end && !atomic_compare_exchange_weak_explicit(&claims->frontier, &frontier, end,
                                                                    memory_order_relaxed, memory_order_relaxed))
        ;
    return taken;
}

void vp_keyclaims_release(vp_keyclaims *claims, uint32_t reader, uint64_t number)
{
    for (uint32_t i = 0; i < claims->groups; i++) {
        uint64_t found = atomic_load_explicit(&claims->words[i], memory_order_relaxed);
        while ((found & OWNERS) == reader + UINT64_C(1) && found >> OWNER_BITS <= number) {
            VP_CRASH_POINT("key claim: not given up");
            if (atomic_compare_exchange_weak_explicit(&claims->words[i], &found, found & ~OWNERS, memory_order_release,
                                                      memory_order_relaxed))
                break;
        }
    }
}

uint64_t vp_keyclaims_frontier(const vp_keyclaims *claims)
{
    return atomic_load_explicit(&claims->frontier, memory_order_relaxed);
}

int64_t vp_keyclaims_owner(const vp_keyclaims *claims, uint32_t group)
{
    return (int64_t)(atomic_load_explicit(&claims->words[group], memory_order_acquire) & OWNERS) - 1;
}
