/* Scripts of sources, the sorted reference, and readers that compare what they get with it.
 *
 * A script is drawn from a seed before anything runs. What comes out must be all its tuples, sorted by
 * position, source and number; and at any time exactly those that lie at or before every source's last
 * item must be ready, neither fewer nor more.
 */
#ifndef SCALEGATE_HARNESS_H
#define SCALEGATE_HARNESS_H

#include "skiplist.h"

enum { MOST_SOURCES = 16, MOST_READERS = 4, MOST_TUPLES = 16, MOST_SLOTS = 64, MOST_RUNS = 64 };

/* How the sources' positions lie to each other. */
typedef enum { SHAPE_MIXED, SHAPE_DISJOINT, SHAPE_EQUAL, SHAPE_LAGGARD, SHAPES } t_shape;

/* A jumbo tuple, or a heartbeat where it has no tuples. */
typedef struct {
    uint64_t first; /* its tuples' places in the script */
    uint32_t count;
    vp_position promise;
} t_action;

typedef struct {
    vp_position *positions;
    t_action *actions;
    uint64_t tuples, action_count;
    /* The state of its execution. */
    sl_gate *gate;
    uint32_t source;
    uint64_t done;                 /* actions */
    bool is_busy;                  /* in the midst of the next */
    uint64_t *payloads;            /* by slot, the place of the jumbo tuple's first tuple; shared */
} t_script;

typedef struct {
    vp_position position;
    uint32_t source;
    uint64_t place; /* in its source's script */
} t_expected;

typedef struct {
    uint32_t sources, readers, slots, tuples, jumbo; /* jumbo: the most tuples of one */
    uint64_t actions;                                /* of each source */
    t_shape shape;
    uint64_t seed;
    bool shared; /* between processes */
} t_plan;

typedef struct {
    t_plan plan;
    sl_gate *gate;
    uint64_t bytes;
    t_script *scripts;  /* of each source */
    uint64_t *payloads; /* of all sources */
    t_expected *reference;
    uint64_t total;
} t_world;

typedef struct {
    const t_world *world;
    sl_reader *reader;
    vp_positions *into;
    uint64_t seen;
} t_checker;

/* Small bounds of all kinds. */
t_plan plan_random(uint64_t seed);

t_world world_new(t_plan plan);
void world_free(t_world *world);

/* One action; false if there was no room for it, none is left, or the script is busy. Every script ends with
 * a close. */
bool script_step(t_script *script);
bool script_is_done(const t_script *script);

t_checker checker_new(const t_world *world, uint32_t index);
void checker_free(t_checker *checker);

/* Takes the rest after all sources closed; that must be everything. */
void checker_finish(t_checker *checker);

/* Takes up to `limit` tuples in up to `max_runs` runs, compares and releases them; how many. */
uint64_t checker_take(t_checker *checker, uint64_t limit, uint32_t max_runs);

/* Whether all scripts ended and all tuples were delivered to all readers. */
bool world_is_done(const t_world *world, const t_checker *checkers);

/* How many tuples of the reference lie at or before every source's last item now. */
uint64_t world_ready(const t_world *world);

#endif
