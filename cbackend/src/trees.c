/* How trees change, whoever changes them.
 *
 * Roles.       Any thread of any process changes trees that live, in one way only: by a compare and swap of
 *              their state. A tree's owner makes trees and forgets them. Who makes a tree end, its finisher, has
 *              it to itself until it has pushed it on its owner's list; the owner has it from there on.
 * Invariant.   A tree's count is at least the number of its tuples that can still do something, for what adds
 *              to a tree holds it open meanwhile. It falls to 0 once. A generation is told from those before
 *              and after it in the same place by the number that state and id have.
 * Order.       T0: a tree's links, and all else in its place, are written before its first state is released;
 *              who reads a state of that generation (T1, acquire) sees them, as every later state is made by a
 *              swap of the one before it. D0: a finisher is done with the tree, and has told its parents, before
 *              it releases it on the list; the owner acquires the list (D1) before it uses the place again.
 * Parents.     A joint's links stand still while it lives, but who changes one may find it ended and its place in
 *              use again at any time. So the parents that have to be told of a turn are noted before the swap, from
 *              words that may be anything; if the swap succeeds, they were the joint's. L0: a link is given
 *              to another joint (release) after the state behind which it was the old one's was replaced; so
 *              who reads the new word (L1, acquire) sees a new state after that, and looks again.
 * Held.        Each swap tells the parents of a joint what it did to its being stalled, and two such words may
 *              arrive in the other order. So held can be below 0 for a moment: it is taken modulo its bits, and
 *              nobody acts on one look alone (vp_table_expire).
 * No recursion. Joints of joints make long chains. What a change moves is kept in lists: trees that it ended are
 *              threaded through `next`, which is their finisher's; turns lie in memory of the thread's own. If there
 *              is none for them, no root could ever be seen to be stalled: that is an incident.
 * Death.       Who dies before a swap has done nothing; after it, it leaves the counts of parents too high, what
 *              is held of them wrong, or an ended tree that is on no list: after the incident that follows, all
 *              roots that were open then are ended by their owners, and such a tree is left where it is
 *              (a zombie, see abandon.c). Who dies behind D0 leaves a bell unrung; an incident rings all.
 * ABA.         A swap could take one generation for another after 2^20 uses of its place between a load and the
 *              swap. Pushing compares the list's first tree, and need not know whether it is the same as before.
 * Progress.    Lock-free: a swap fails, and links are read again, only where another one succeeded.
 */
#include "trees.h"

#include <stdlib.h>

#include "crash.h"

enum { FEW = 16 };
/* In a turn, beside the parent: the joint is no longer stalled. */
static const uint64_t BACK = UINT64_C(1) << 63;

/* What is left to do of a change. */
typedef struct {
    uint64_t ended;  /* trees, threaded through `next`; 0: none */
    uint64_t *turns; /* parents whose joint became stalled, or ceased to be */
    uint64_t count, capacity;
    bool lost; /* whether there was no memory for a turn */
    uint64_t few[FEW];
} work;

static bool grow(work *left)
{
    uint64_t *more = malloc(2 * left->capacity * sizeof *more);
    if (!more)
        return false;
    for (uint64_t i = 0; i < left->count; i++)
        more[i] = left->turns[i];
    if (left->turns != left->few)
        free(left->turns);
    left->turns = more;
    left->capacity *= 2;
    return true;
}

static void remember(work *left, uint64_t turn)
{
    if (left->count < left->capacity || grow(left))
        left->turns[left->count++] = turn;
    else
        left->lost = true;
}

/* Notes that all parents have to be told. False if the tree is no longer in that state. */
static bool note_parents(const vp_forest *forest, uint64_t tree, uint64_t state, uint64_t way, work *left)
{
    const vp_tree *joint = vp_tree_at(forest, tree);
    uint32_t link = atomic_load_explicit(&joint->links, memory_order_acquire); /* L1 <- L0 */
    while (link) {
        const vp_link *at = vp_link_at(forest, vp_tree_table(tree), link);
        uint64_t parent = atomic_load_explicit(&at->parent, memory_order_acquire); /* L1 <- L0 */
        link = atomic_load_explicit(&at->next, memory_order_acquire);              /* L1 <- L0 */
        /* Relaxed: the acquires above keep it behind the words. */
        if (atomic_load_explicit(&joint->state, memory_order_relaxed) != state)
            return false;
        remember(left, parent | way);
    }
    return true;
}

/* Notes what a swap is about to do to a tree's being stalled. What ends a tree tells its parents itself. */
static bool note_turn(const vp_forest *forest, uint64_t tree, uint64_t state, uint64_t next, work *left)
{
    bool was = vp_state_is_stalled(state), becomes = vp_state_is_stalled(next);
    if (was == becomes || !vp_state_is_open(next))
        return true;
    bool noted = note_parents(forest, tree, state, was ? BACK : 0, left);
    VP_CRASH_POINT("turn: noted");
    return noted;
}

/* The state behind a change. One that is done remembers whether it was stalled. */
static uint64_t changed(uint64_t state, vp_change by)
{
    uint32_t generation = vp_state_generation(state);
    int64_t count = (int64_t)vp_state_count(state) + by.more;
    if (by.reason || count > VP_MOST)
        return vp_state(generation, VP_DEAD, 0);
    if (count <= 0)
        return vp_state(generation, VP_DONE, vp_state_is_stalled(state));
    return vp_state(generation, (uint32_t)count, vp_state_held(state) + (uint32_t)by.more_held);
}

/* What follows from a swap for the tree itself. */
static void follow(vp_tree *at, uint64_t tree, uint64_t state, uint64_t next, uint32_t reason, work *left)
{
    if (vp_state_is_open(next)) {
        /* Relaxed: too late, it costs a sweep. */
        if (vp_state_is_stalled(state) && !vp_state_is_stalled(next))
            atomic_store_explicit(&at->swept, 0, memory_order_relaxed);
        return;
    }
    bool died = vp_state_count(next) == VP_DEAD;
    at->reason = !died ? 0 : reason ? reason : VP_TREE_TOO_LARGE;
    /* Relaxed: the finisher's own, till D0. */
    atomic_store_explicit(&at->next, left->ended, memory_order_relaxed);
    left->ended = tree;
}

static bool change(vp_forest *forest, uint64_t tree, vp_change by, work *left)
{
    if (!tree || vp_tree_table(tree) >= forest->table_count || vp_tree_place(tree) >= forest->tree_count)
        return false;
    vp_tree *at = vp_tree_at(forest, tree);
    uint64_t noted = left->count, next;
    for (;;) {
        uint64_t state = atomic_load_explicit(&at->state, memory_order_acquire); /* T1 <- T0 */
        left->count = noted;
        if (!vp_tree_lives(state, tree))
            return false;
        next = changed(state, by);
        /* Acquire: T1 <- T0. Relaxed on failure: it is loaded anew. */
        if (note_turn(forest, tree, state, next, left) &&
            atomic_compare_exchange_weak_explicit(&at->state, &state, next, memory_order_acquire,
                                                  memory_order_relaxed)) {
            follow(at, tree, state, next, by.reason, left);
            return true;
        }
    }
}

static void push(vp_forest *forest, uint64_t tree)
{
    vp_table *table = vp_forest_table_at(forest, vp_tree_table(tree));
    vp_tree *at = vp_tree_at(forest, tree);
    uint64_t first = atomic_load_explicit(&table->done, memory_order_relaxed); /* relaxed: the swap looks */
    do {
        /* Relaxed: D0 releases it. */
        atomic_store_explicit(&at->next, first, memory_order_relaxed);
        VP_CRASH_POINT("push: linked");
    } while (!atomic_compare_exchange_weak_explicit(&table->done, &first, tree, memory_order_release /* D0 -> D1 */,
                                                    memory_order_relaxed));
    VP_CRASH_POINT("push: pushed");
    /* Relaxed: a bell is set before its task runs. */
    uint64_t bell = atomic_load_explicit(&table->bell, memory_order_relaxed);
    if (bell && !first) /* else who pushed the first one rings, or has */
        vp_bell_ring((vp_bell *)((char *)forest - forest->at + bell));
}

/* Tells the parents of a tree that has ended, and then its owner. */
static void finish(vp_forest *forest, work *left)
{
    uint64_t tree = left->ended;
    vp_tree *at = vp_tree_at(forest, tree);
    /* Relaxed, all: the finisher's own, till D0. */
    uint64_t state = atomic_load_explicit(&at->state, memory_order_relaxed);
    left->ended = atomic_load_explicit(&at->next, memory_order_relaxed);
    vp_change told = {-1, vp_state_held(state) ? -1 : 0, at->reason};
    VP_CRASH_POINT("finish: ended");
    for (uint32_t link = atomic_load_explicit(&at->links, memory_order_relaxed); link;) {
        const vp_link *to = vp_link_at(forest, vp_tree_table(tree), link);
        change(forest, atomic_load_explicit(&to->parent, memory_order_relaxed), told, left);
        VP_CRASH_POINT("finish: parent told");
        link = atomic_load_explicit(&to->next, memory_order_relaxed);
    }
    push(forest, tree);
}

void vp_forest_incident(vp_forest *forest)
{
    /* Relaxed, all: a bell orders what it is rung for, and is set before its task runs. */
    atomic_fetch_add_explicit(&forest->incidents, 1, memory_order_relaxed);
    for (uint32_t i = 0; i < forest->table_count; i++) {
        uint64_t bell = atomic_load_explicit(&vp_forest_table_at(forest, i)->bell, memory_order_relaxed);
        if (bell)
            vp_bell_ring((vp_bell *)((char *)forest - forest->at + bell));
    }
}

/* Does what is left. */
static void settle(vp_forest *forest, work *left)
{
    while (left->count || left->ended)
        if (left->count) {
            uint64_t turn = left->turns[--left->count];
            VP_CRASH_POINT("turn: not yet");
            change(forest, turn & ~BACK, (vp_change){0, turn & BACK ? -1 : 1, 0}, left);
        } else
            finish(forest, left);
    if (left->lost)
        vp_forest_incident(forest);
    if (left->turns != left->few)
        free(left->turns);
}

bool vp_tree_apply(vp_forest *forest, uint64_t tree, vp_change by)
{
    work left; /* not initialized as a whole: it is large, and this is done for every tuple */
    left.ended = left.count = 0;
    left.lost = false;
    left.turns = left.few;
    left.capacity = FEW;
    bool alive = change(forest, tree, by, &left);
    settle(forest, &left);
    return alive;
}
