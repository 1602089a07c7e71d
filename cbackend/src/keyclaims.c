/* A word for each group: the number behind the last tuple of it that a reader has come to, and who has the group. Another
 * says from which tuple on it has had the group.
 *
 * Order.    Who takes a group sees all that its last owner has changed: given up with release, taken with acquire. The
 *           word is changed by compare-and-swap only, and its number never goes back, so an owner gives a group up only
 *           where nothing more was left to it.
 * Death.    A group stays with its reader, whose successor gives up at its beginning what it finds to be its own with
 *           nothing left. It may begin behind the tuples that were delivered to the dead one: these are lost, or counted
 *           as such. What was left to it behind them, it gets. Or it begins with them once more. Then each is whose it
 *           was: the words of groups say so, but for a group's tuples that another had before the dead one took it. So a
 *           reader notes from which tuple on it has a group. It may die before it does, so it has noted that tuple, and
 *           the group, for its successor before the exchange.
 * Progress. Lock-free: an exchange fails only where another reader has come to the group's next tuple, or gone.
 * Cost.     One exchange for a tuple by whoever comes to it first, none by others; one for each group that is given up.
 */
#include "viper/keyclaims.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "crash.h"
#include "layout.h"

enum { OWNER_BITS = 16 };
#define OWNERS ((UINT64_C(1) << OWNER_BITS) - 1)

struct vp_keyclaims {
    alignas(VP_LINE) uint32_t groups, readers;
    alignas(VP_LINE) _Atomic uint64_t frontier;
    /* Of each group: number << OWNER_BITS | reader + 1; 0 in the lower bits: nobody's. Then for each the number from which
     * on its owner has it. Then for each reader, on a line of its own: number << OWNER_BITS | group that it takes last. */
    alignas(VP_LINE) _Atomic uint64_t words[];
};

enum { WORDS_OF_READER = VP_LINE / sizeof(uint64_t) };

/* Words before those of the readers. */
static uint64_t of_groups(uint32_t groups)
{
    uint64_t words = 2 * (uint64_t)groups;
    return (words + WORDS_OF_READER - 1) / WORDS_OF_READER * WORDS_OF_READER;
}

static _Atomic uint64_t *since(vp_keyclaims *claims, uint32_t group)
{
    return &claims->words[claims->groups + group];
}

static _Atomic uint64_t *taking(vp_keyclaims *claims, uint32_t reader)
{
    return &claims->words[of_groups(claims->groups) + (uint64_t)reader * WORDS_OF_READER];
}

uint64_t vp_keyclaims_size(uint32_t groups, uint32_t readers)
{
    return sizeof(vp_keyclaims) + of_groups(groups) * sizeof(uint64_t) + (uint64_t)readers * VP_LINE;
}

vp_keyclaims *vp_keyclaims_format(void *region, uint32_t groups, uint32_t readers)
{
    vp_keyclaims *claims = region;
    claims->groups = groups;
    claims->readers = readers;
    atomic_init(&claims->frontier, 0);
    for (uint64_t i = 0; i < of_groups(groups) + (uint64_t)readers * WORDS_OF_READER; i++)
        atomic_init(&claims->words[i], 0);
    return claims;
}

struct vp_keyclaimant {
    vp_keyclaims *claims;
    uint32_t reader;
    uint32_t count;   /* of the groups that it has */
    uint16_t *groups; /* those, in any order; room for all */
    uint64_t total;   /* of what it counts below */
    uint32_t *counts; /* by group, of the tuples that it has come to; all are halved now and then */
    uint64_t held;    /* about the sum of those of its groups: reckoned once in a take, as groups may be many */
};

enum { COUNTED = 1 << 14 };

/* Comes to a tuple of a group; whether it is the reader's. */
static bool come_to(vp_keyclaimant *claimant, uint16_t group, uint64_t number)
{
    vp_keyclaims *claims = claimant->claims;
    _Atomic uint64_t *word = &claims->words[group];
    uint64_t found = atomic_load_explicit(word, memory_order_acquire), owner, me = claimant->reader + UINT64_C(1);
    do {
        owner = found & OWNERS;
        if (found >> OWNER_BITS > number) /* another has come to it: processed, or left to who has the group */
            return owner == me && atomic_load_explicit(since(claims, group), memory_order_relaxed) <= number;
        if (!owner) /* relaxed: for a successor, which sees all that the dead one has done */
            atomic_store_explicit(taking(claims, claimant->reader), number << OWNER_BITS | group, memory_order_relaxed);
        VP_CRASH_POINT("key claim: not exchanged");
    } while (!atomic_compare_exchange_weak_explicit(word, &found, (number + 1) << OWNER_BITS | (owner ? owner : me),
                                                    memory_order_acq_rel, memory_order_acquire));
    VP_CRASH_POINT("key claim: exchanged");
    if (!owner) {
        atomic_store_explicit(since(claims, group), number, memory_order_relaxed);
        claimant->groups[claimant->count++] = group;
        claimant->held += claimant->counts[group];
    }
    return !owner || owner == me;
}

/* Finds the groups that a dead reader has left, and from which tuple on it had the last one. */
static void take_over(vp_keyclaimant *claimant)
{
    vp_keyclaims *claims = claimant->claims;
    uint64_t last = atomic_load_explicit(taking(claims, claimant->reader), memory_order_relaxed);
    for (uint32_t group = 0; group < claims->groups; group++)
        if (vp_keyclaims_owner(claims, group) == claimant->reader) {
            claimant->groups[claimant->count++] = (uint16_t)group;
            if (group == (last & OWNERS))
                atomic_store_explicit(since(claims, group), last >> OWNER_BITS, memory_order_relaxed);
        }
}

vp_keyclaimant *vp_keyclaimant_new(vp_keyclaims *claims, uint32_t reader, uint64_t number)
{
    vp_keyclaimant *claimant = malloc(sizeof *claimant);
    uint16_t *groups = malloc(claims->groups * sizeof *groups);
    uint32_t *counts = calloc(claims->groups, sizeof *counts);
    if (!claimant || !groups || !counts) {
        free(claimant);
        free(groups);
        free(counts);
        return NULL;
    }
    *claimant = (vp_keyclaimant){claims, reader, 0, groups, 0, counts, 0};
    take_over(claimant);
    vp_keyclaimant_release(claimant, number);
    return claimant;
}

void vp_keyclaimant_free(vp_keyclaimant *claimant)
{
    free(claimant->groups);
    free(claimant->counts);
    free(claimant);
}

static void count_tuple(vp_keyclaimant *claimant, uint16_t group)
{
    claimant->counts[group]++;
    if (++claimant->total < COUNTED)
        return;
    claimant->total = 0;
    for (uint32_t i = 0; i < claimant->claims->groups; i++)
        claimant->total += claimant->counts[i] /= 2;
}

/* Tuples so far of the groups that the reader has. */
static uint64_t held(const vp_keyclaimant *claimant)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < claimant->count; i++)
        sum += claimant->counts[claimant->groups[i]];
    return sum;
}

/* Whether the reader would have more than its share of all tuples with one more group, which nobody has. It would fall
 * behind then, and never give any of them up. */
static bool has_enough(const vp_keyclaimant *claimant, uint16_t group, uint64_t number)
{
    uint64_t found = atomic_load_explicit(&claimant->claims->words[group], memory_order_relaxed);
    if (found & OWNERS || found >> OWNER_BITS > number)
        return false;
    return (claimant->held + claimant->counts[group]) * claimant->claims->readers > claimant->total;
}

uint64_t vp_keyclaimant_take(vp_keyclaimant *claimant, uint64_t number, const uint16_t *groups, uint64_t most,
                             uint64_t *count, uint16_t *mine)
{
    uint64_t taken = 0, gone = 0;
    claimant->held = held(claimant);
    for (; gone < *count && taken < most; gone++) {
        if (taken && has_enough(claimant, groups[gone], number + gone))
            break;
        count_tuple(claimant, groups[gone]);
        mine[gone] = come_to(claimant, groups[gone], number + gone);
        taken += mine[gone];
        VP_CRASH_POINT("key claim: come to a tuple");
    }
    *count = gone;
    const uint64_t end = number + gone;
    _Atomic uint64_t *frontier = &claimant->claims->frontier;
    uint64_t found = atomic_load_explicit(frontier, memory_order_relaxed); /* relaxed: a hint for how far to go at once */
    while (found < end &&
           !atomic_compare_exchange_weak_explicit(frontier, &found, end, memory_order_relaxed, memory_order_relaxed))
        ;
    return taken;
}

void vp_keyclaimant_release(vp_keyclaimant *claimant, uint64_t number)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < claimant->count; i++) {
        uint16_t group = claimant->groups[i];
        _Atomic uint64_t *word = &claimant->claims->words[group];
        uint64_t found = atomic_load_explicit(word, memory_order_relaxed);
        bool given_up = false;
        while (!given_up && found >> OWNER_BITS <= number) {
            VP_CRASH_POINT("key claim: not given up");
            given_up = atomic_compare_exchange_weak_explicit(word, &found, found & ~OWNERS, memory_order_release,
                                                             memory_order_relaxed);
        }
        if (!given_up)
            claimant->groups[kept++] = group;
    }
    claimant->count = kept;
}

uint64_t vp_keyclaims_frontier(const vp_keyclaims *claims)
{
    return atomic_load_explicit(&claims->frontier, memory_order_relaxed);
}

int64_t vp_keyclaims_owner(const vp_keyclaims *claims, uint32_t group)
{
    return (int64_t)(atomic_load_explicit(&claims->words[group], memory_order_acquire) & OWNERS) - 1;
}
