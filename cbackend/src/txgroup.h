/* How a group of shared tables and logs lies in its region. See viper/txgroup.h.
 *
 *     | vp_txgroup | tables ... | elements ... | members ... | cursors ... | losers ... | heads ... | undo entries ... |
 *
 * Committed words are those that the undo log gives back together with the tables: how far each log is, below what
 * position everything is evaluated, and what was counted. What others read is published from them behind the commit.
 */
#ifndef VIPER_SRC_TXGROUP_H
#define VIPER_SRC_TXGROUP_H

#include "tournament.h"
#include "txlog.h"
#include "txundo.h"
#include "viper/txgroup.h"

enum { VP_TX_TABLES = 256, VP_TX_UNDO_ROOM = 1 << 18 };

/* Counted words, as in vp_txcounts. */
enum { VP_TXCOUNT_TRANSACTIONS, VP_TXCOUNT_ABORTED, VP_TXCOUNT_EVALUATIONS, VP_TXCOUNT_LATE, VP_TXCOUNT_INSTRUCTIONS,
       VP_TXCOUNTS };

typedef struct {
    vp_word ts, hi, lo;
    vp_word counts[VP_TXCOUNTS];
} vp_txcommitted;

/* A log, by its number. */
typedef struct {
    uint64_t log; /* offset in the arena; 0: none yet */
    vp_word done; /* bytes evaluated; a committed word */
} vp_txmember;

/* Where an evaluation is in a log; by the log's turn among those with equal positions. All but the number is made anew
 * with each evaluation. */
typedef struct {
    uint64_t number;
    char *ring;
    uint64_t mask;
    uint64_t at, tail, reached; /* its next transaction, and behind the last one, which may be a pad before that */
} vp_txcursor;

struct vp_txgroup {
    uint64_t at; /* bytes from the arena's start */
    uint32_t tables, logs;
    uint64_t tables_at, elements_at, members_at, cursors_at, losers_at, heads_at, entries_at;
    uint64_t sorted; /* how many logs have their turns; 0: to be sorted */
    alignas(VP_LINE) _Atomic uint32_t holder; /* of the lease, 0: nobody */
    _Atomic uint32_t alone;                   /* the number of the log, and 1, whose task's turn it is; 0: none's */
    alignas(VP_LINE) vp_twice evaluated;
    alignas(VP_LINE) vp_word undo_length; /* entries that count */
    vp_word segments; /* offset of further undo entries, see below; 0: none count. Itself a committed word */
    alignas(VP_LINE) vp_txcommitted committed;
};

/* What the words of a batch were before it, for several threads that note it at once: behind this, for each thread how
 * many entries it has, on lines of their own, and then VP_TX_UNDO_ROOM entries for each. A word may have several. */
typedef struct {
    uint64_t count; /* of threads */
} vp_txsegments;

typedef struct {
    alignas(VP_LINE) vp_word length;
} vp_txsegment;

static inline vp_txsegment *vp_txsegment_at(vp_txsegments *segments, uint64_t index)
{
    return (vp_txsegment *)((char *)segments + VP_LINE) + index;
}

static inline vp_txbefore *vp_txsegment_entries(vp_txsegments *segments, uint64_t index)
{
    return (vp_txbefore *)(vp_txsegment_at(segments, segments->count)) + index * VP_TX_UNDO_ROOM;
}

static inline char *vp_txgroup_arena(const vp_txgroup *group)
{
    return (char *)group - group->at;
}

static inline vp_txmember *vp_txgroup_members(const vp_txgroup *group)
{
    return (vp_txmember *)((char *)group + group->members_at);
}

static inline vp_txcursor *vp_txgroup_cursors(const vp_txgroup *group)
{
    return (vp_txcursor *)((char *)group + group->cursors_at);
}

static inline vp_txlog *vp_txgroup_log(const vp_txgroup *group, uint64_t number)
{
    return (vp_txlog *)(vp_txgroup_arena(group) + vp_txgroup_members(group)[number].log);
}

static inline uint64_t *vp_txgroup_tables(const vp_txgroup *group)
{
    return (uint64_t *)((char *)group + group->tables_at);
}

/* By table and column, the number of the table of elements. */
static inline uint32_t *vp_txgroup_elements(const vp_txgroup *group)
{
    return (uint32_t *)((char *)group + group->elements_at);
}

static inline vp_shared *vp_txgroup_table(const vp_txgroup *group, uint64_t number)
{
    return (vp_shared *)(vp_txgroup_arena(group) + vp_txgroup_tables(group)[number]);
}

static inline vp_txundo vp_txgroup_undo(vp_txgroup *group)
{
    return (vp_txundo){vp_txgroup_arena(group), (vp_txbefore *)((char *)group + group->entries_at), &group->undo_length};
}

/* The position that is least collected, and whose. */
vp_position vp_txgroup_frontier(const vp_txgroup *group, uint32_t *holding);

/* How often logs have been told of something. */
uint64_t vp_txgroup_said(const vp_txgroup *group);

/* The lease, and what its holder may do. */
bool vp_txgroup_take(vp_txgroup *group, uint32_t holder);
void vp_txgroup_give(vp_txgroup *group);

/* Adds to counted words, and raises the evaluated position to a higher one: words of the next commit. Returns how many
 * undo entries count then. */
uint64_t vp_txgroup_count(vp_txgroup *group, uint64_t length, const vp_txcounts *more);
uint64_t vp_txgroup_reach(vp_txgroup *group, uint64_t length, vp_position position);

/* Gives all words that the segments have their old values. */
void vp_txgroup_segments_back(vp_txgroup *group);

/* All that was written since the last commit lasts, and is told. */
void vp_txgroup_commit(vp_txgroup *group);

#endif
