/* Producers and readers as processes that are killed: at every named point, and at any time. Successors
 * go on, or the dead are closed or expelled on their behalf. Nobody hangs, nothing is lost, torn or
 * delivered twice by one reader, and what each reader sees is in order.
 *
 *     test_crash [seed]       another sequence of deaths
 */
#include <errno.h>
#include <time.h>

#include "dying.h"

enum { SOURCES = 2, READERS = 2, TASKS = SOURCES + READERS, JUMBOS = 150, SLOTS = 4, TUPLES = 16, BYTES = 512 };
enum { MOST = 5, RANDOM_ROUNDS = 300, HANGS_AFTER_S = 10 };
static const int64_t NO_END_NS = INT64_C(3600000000000);

static const char *const POINTS[] = {
    "claim: full",      "claim: wanting",      "claim: copied",    "publish: not yet",  "publish: published",
    "publish: noted",   "progress: odd",       "progress: torn",   "progress: even",    "heartbeat: noted",
    "close: not yet",   "release: not yet",    "release: released", "release: not rung", "bell: not yet",
    "bell: rung",       "bell: counted",
};
enum { POINT_COUNT = sizeof POINTS / sizeof *POINTS };

typedef struct {
    int64_t ts;
    uint32_t count;
    uint64_t bytes;
} jumbo;

static jumbo script[SOURCES][JUMBOS];
static vp_arena *arena;
static vp_gate *gate;
static uint64_t bells[TASKS]; /* tasks: first the sources, then the readers */

/* Jumbo tuples of each source that each reader has seen to their end, for its successor to compare. */
typedef struct {
    _Atomic uint64_t seen[READERS][SOURCES];
} record;
static record *records;

/* -- the tasks */

static vp_bell *bell_of(uint32_t task)
{
    return vp_arena_at(arena, bells[task]);
}

static void produce(uint32_t source)
{
    vp_ring *ring = vp_gate_ring(gate, source);
    for (uint64_t i = vp_gate_added(gate, source).added_jumbos; i < JUMBOS;) {
        const jumbo *next = &script[source][i];
        uint32_t ticket = vp_bell_ticket(bell_of(source));
        int64_t slot = add_with(ring, next->ts, next->count, next->bytes);
        if (slot == VP_FULL) {
            vp_bell_wait(bell_of(source), ticket, NO_END_NS);
            continue;
        }
        CHECK(slot >= 0);
        heartbeat(ring, at(next->ts + next->count - 1 + (int64_t)i % 2));
        i++;
    }
    vp_ring_close(ring);
}

typedef struct {
    uint64_t jumbo[SOURCES]; /* that comes next */
    uint32_t tuple[SOURCES];
    int64_t ts; /* of the last tuple */
    uint32_t source;
} cursor;

static void check_run(vp_run run, const vp_position *positions, cursor *at_tuple)
{
    const jumbo *expected = &script[run.source][at_tuple->jumbo[run.source]];
    CHECK(at_tuple->jumbo[run.source] < JUMBOS);
    uint64_t bytes;
    const uint8_t *payload = vp_ring_payload(vp_gate_ring(gate, run.source), run.slot, &bytes);
    CHECK(bytes == expected->bytes && is_filled(payload, bytes, (uint64_t)expected->ts));
    CHECK_EQUAL(run.first, at_tuple->tuple[run.source]);
    CHECK(run.first + run.count <= expected->count);
    for (uint32_t i = 0; i < run.count; i++) {
        int64_t ts = positions[i].ts;
        CHECK_EQUAL(ts, expected->ts + run.first + i);
        CHECK(ts > at_tuple->ts || (ts == at_tuple->ts && run.source >= at_tuple->source));
        at_tuple->ts = ts;
        at_tuple->source = run.source;
    }
    at_tuple->tuple[run.source] += run.count;
    if (at_tuple->tuple[run.source] == expected->count) {
        at_tuple->jumbo[run.source]++;
        at_tuple->tuple[run.source] = 0;
    }
}

/* Where the reader begins: no further than the one before it has seen. */
static cursor begin(uint32_t reader)
{
    cursor first = {.ts = INT64_MIN};
    for (uint32_t source = 0; source < SOURCES; source++) {
        first.jumbo[source] = atomic_load(&vp_ring_head(vp_gate_ring(gate, source), reader)->head);
        CHECK(first.jumbo[source] <= atomic_load(&records->seen[reader][source]));
    }
    return first;
}

static void consume(uint32_t reader)
{
    enum { RUNS = 3 };
    vp_bell *bell = bell_of(SOURCES + reader);
    cursor at_tuple = begin(reader);
    vp_merge *merge = vp_merge_new(gate, reader);
    vp_positions *into = vp_positions_new();
    vp_run runs[RUNS];
    while (!vp_merge_drained(merge)) {
        uint32_t ticket = vp_bell_ticket(bell);
        int64_t made = vp_merge_take(merge, into, 7, runs, RUNS);
        const vp_position *positions = into->data;
        for (int64_t i = 0; i < made; positions += runs[i++].count)
            check_run(runs[i], positions, &at_tuple);
        into->length = 0;
        for (uint32_t source = 0; source < SOURCES; source++)
            atomic_store(&records->seen[reader][source], at_tuple.jumbo[source]);
        vp_merge_release(merge);
        if (made == 0 && !vp_merge_drained(merge))
            vp_bell_wait(bell, ticket, NO_END_NS);
    }
    vp_positions_free(into);
    vp_merge_free(merge);
}

/* -- the parent */

static pid_t start(uint32_t task, const char *point, uint32_t passes)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child)
        return child;
    alarm(HANGS_AFTER_S);
    die_at(point, passes);
    if (task < SOURCES)
        produce(task);
    else
        consume(task - SOURCES);
    _exit(0);
}

static void write_script(uint64_t *seed)
{
    for (uint32_t source = 0; source < SOURCES; source++) {
        int64_t ts = 0;
        for (uint32_t i = 0; i < JUMBOS; i++) {
            uint32_t count = 1 + random_below(seed, MOST);
            script[source][i] = (jumbo){ts, count, random_below(seed, 200)};
            ts += count + random_below(seed, 3);
        }
    }
}

static int new_segment(uint64_t size)
{
    int segment = vp_segment_anonymous(size);
    return segment < 0 && errno == ENOSYS ? vp_segment_named("/vp-test-crash", size) : segment;
}

/* Attached as another program would: nothing may depend on where it was mapped first. */
static void set_up(void)
{
    vp_gate_shape shape = {SOURCES, READERS, SLOTS, TUPLES, BYTES, false};
    uint64_t capacity = vp_gate_size(shape) + vp_arena_rounded(sizeof(record)) + TASKS * VP_LINE;
    int segment = new_segment(vp_arena_segment_size(capacity));
    vp_arena found;
    CHECK(segment >= 0);
    vp_arena *first = vp_arena_format(segment, capacity);
    CHECK(first != NULL);
    CHECK_EQUAL(vp_arena_attach(segment, &arena, &found), 0);
    vp_arena_free(first, capacity);
    CHECK(close(segment) == 0);
    gate = vp_gate_format(arena, vp_arena_allocate(arena, vp_gate_size(shape)), shape);
    records = vp_arena_at(arena, vp_arena_allocate(arena, sizeof(record)));
    for (uint32_t task = 0; task < TASKS; task++)
        bells[task] = vp_arena_allocate(arena, vp_bell_size());
    for (uint32_t source = 0; source < SOURCES; source++)
        vp_gate_set_source_bell(gate, source, bells[source]);
    for (uint32_t reader = 0; reader < READERS; reader++)
        vp_gate_set_reader_bell(gate, reader, bells[SOURCES + reader]);
}

static void check_end(const bool *given_up)
{
    for (uint32_t source = 0; source < SOURCES; source++) {
        uint64_t added = vp_gate_added(gate, source).added_jumbos;
        CHECK(given_up[source] || added == JUMBOS);
        CHECK_EQUAL(vp_compare(vp_ring_floor(vp_gate_ring(gate, source)), VP_END), 0);
        for (uint32_t reader = 0; reader < READERS; reader++)
            if (!given_up[SOURCES + reader])
                CHECK_EQUAL(atomic_load(&records->seen[reader][source]), added);
    }
}

/* What a supervisor does once it knows of a death: a successor, or the end. Returns the successor. */
static pid_t after_death(uint32_t task, bool replace)
{
    if (task < SOURCES) {
        vp_ring_recover(vp_gate_ring(gate, task));
        if (!replace)
            vp_ring_close(vp_gate_ring(gate, task));
    } else if (!replace)
        vp_gate_expel_reader(gate, task - SOURCES);
    if (!replace)
        return 0;
    vp_bell_take_over(bell_of(task));
    return start(task, NULL, 0);
}

typedef struct {
    uint32_t victim;
    const char *point;   /* NULL: after a while */
    uint32_t passes;     /* of the point before death */
    uint32_t delay_ns;   /* of the while */
    bool replace;
} fate;

/* Waits for all tasks; returns whether the victim died before it was done. */
static bool supervise(pid_t *tasks, fate f)
{
    bool died = false, given_up[TASKS] = {false};
    for (uint32_t running = TASKS; running > 0;) {
        int status;
        pid_t ended = waitpid(-1, &status, 0);
        CHECK(ended > 0);
        uint32_t task = 0;
        while (task < TASKS && tasks[task] != ended)
            task++;
        CHECK(task < TASKS);
        tasks[task] = 0;
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
            CHECK_EQUAL(task, f.victim);
            died = true;
            given_up[task] = !f.replace;
            tasks[task] = after_death(task, f.replace);
        } else
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0); /* or it hung, and SIGALRM ended it */
        running -= tasks[task] == 0;
    }
    check_end(given_up);
    return died;
}

static bool run(fate f)
{
    pid_t tasks[TASKS];
    set_up();
    for (uint32_t task = 0; task < TASKS; task++)
        tasks[task] = start(task, task == f.victim ? f.point : NULL, f.passes);
    if (!f.point) {
        nanosleep(&(struct timespec){.tv_nsec = f.delay_ns}, NULL);
        kill(tasks[f.victim], SIGKILL);
    }
    bool died = supervise(tasks, f);
    vp_arena_free(arena, arena->capacity);
    return died;
}

static void test_every_point(uint64_t *seed)
{
    for (uint32_t i = 0; i < POINT_COUNT; i++) {
        uint32_t deaths = 0;
        for (uint32_t task = 0; task < TASKS; task += SOURCES) /* a source, and a reader */
            for (uint32_t time = 0; time < 4; time++)
                deaths += run((fate){task, POINTS[i], time / 2 * random_below(seed, 20), 0, time % 2});
        if (!deaths)
            fprintf(stderr, "nobody came to \"%s\"\n", POINTS[i]);
        CHECK(deaths > 0);
    }
}

static void test_any_time(uint64_t *seed)
{
    uint32_t deaths = 0;
    for (uint32_t i = 0; i < RANDOM_ROUNDS; i++) {
        fate f = {random_below(seed, TASKS), NULL, 0, random_below(seed, 2000000), random_below(seed, 2)};
        deaths += run(f);
    }
    CHECK(deaths > RANDOM_ROUNDS / 4);
}

/* A named segment frees its name before it is used; who dies before that leaves it behind, to be removed. */
static void test_names_of_segments(void)
{
    char name[40];
    snprintf(name, sizeof name, "/vp-test-%d", (int)getpid());
    int segment = vp_segment_named(name, 4096);
    CHECK(segment >= 0 && close(segment) == 0);
    CHECK(vp_segment_remove(name) == -1 && errno == ENOENT);
    pid_t child = fork();
    if (child == 0) {
        die_at("segment: named", 0);
        vp_segment_named(name, 4096);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    CHECK(vp_segment_named(name, 4096) == -1 && errno == EEXIST);
    CHECK(vp_segment_remove(name) == 0);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    write_script(&seed);
    test_every_point(&seed);
    test_any_time(&seed);
    test_names_of_segments();
}
