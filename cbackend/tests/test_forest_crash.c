/* A spout and bolts as processes that are killed: at every named point, and at any time. A successor takes the
 * place of the dead, and the others are told. Nobody hangs, each root is told once by the spout that began it, and
 * no more places are lost than the dead had in their hands.
 *
 *     test_forest_crash [seed]       another sequence of deaths
 */
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "dying.h"
#include "forest_check.h"

enum { BOLTS = 2, TASKS = 1 + BOLTS, ROOTS = 150, PENDING = 12, TREES = 200, LINKS = 400, CELLS = 1 << 14 };
enum { HOPS = 3, MOST_HELD = 4, IN_HAND = 16, REASON = 7, RANDOM_ROUNDS = 200, HANGS_AFTER_S = 20 };
static const int64_t NO_END_NS = INT64_C(3600000000000);

static const char *const POINTS[] = {
    "finish: ended", "finish: parent told", "push: linked", "push: pushed", "turn: noted",  "turn: not yet",
    "join: added",   "take: noted",         "take: taken",  "take: free",   "bell: not yet", "bell: rung",
};
enum { POINT_COUNT = sizeof POINTS / sizeof *POINTS };

/* Tuples on their way from one task to any bolt. One that a bolt claims and does not live to process is lost. */
typedef struct {
    struct {
        uint64_t tree;
        uint32_t hops;
    } cells[CELLS];
    _Atomic uint32_t head, tail;
} lane;

typedef struct {
    lane lanes[TASKS];
    uint64_t ids[ROOTS]; /* of the spout and its successor */
    _Atomic uint32_t begun;
    _Atomic uint32_t told[ROOTS];
    _Atomic bool over;
} record;

static woods w;
static record *shared;
static uint64_t bell;

/* -- tuples */

static void emit(uint32_t task, uint64_t tree, uint32_t hops)
{
    lane *own = &shared->lanes[task];
    uint32_t tail = atomic_load(&own->tail);
    if (tail == CELLS)
        return;
    add_to(w, tree, 1);
    own->cells[tail].tree = tree;
    own->cells[tail].hops = hops;
    atomic_store(&own->tail, tail + 1);
}

static bool claim(uint32_t task, uint64_t *tree, uint32_t *hops)
{
    lane *from = &shared->lanes[task];
    uint32_t head = atomic_load(&from->head);
    if (head == atomic_load(&from->tail))
        return false;
    *tree = from->cells[head].tree;
    *hops = from->cells[head].hops;
    return atomic_compare_exchange_strong(&from->head, &head, head + 1);
}

/* -- the spout */

static void hear(void)
{
    for (uint64_t i = 0; i < w.endings->length; i++)
        for (uint32_t root = 0; root < atomic_load(&shared->begun); root++)
            if (shared->ids[root] == w.endings->trees[i])
                CHECK_EQUAL(atomic_fetch_add(&shared->told[root], 1), 0);
    w.endings->length = 0;
}

static void begin_root(uint64_t *seed)
{
    uint64_t tree = begin_one(w, 0);
    uint32_t root = atomic_load(&shared->begun);
    shared->ids[root] = tree;
    atomic_store(&shared->begun, root + 1);
    for (uint32_t i = random_below(seed, 4); i > 0; i--)
        emit(0, tree, HOPS);
    ack_one(w, tree);
}

static void spout_run(uint64_t seed)
{
    vp_table *table = table_of(w, 0);
    uint64_t incidents = vp_forest_incidents(w.forest);
    while (vp_table_open(table) || atomic_load(&shared->begun) < ROOTS) {
        uint32_t ticket = vp_bell_ticket(vp_arena_at(w.arena, bell));
        if (vp_forest_incidents(w.forest) != incidents) {
            incidents = vp_forest_incidents(w.forest);
            CHECK(vp_table_fail_all(table, w.endings) >= 0);
        } else if (vp_table_has_done(table))
            CHECK(vp_table_take(table, w.endings) >= 0);
        else if (vp_table_open(table) < PENDING && atomic_load(&shared->begun) < ROOTS)
            begin_root(&seed);
        else
            vp_bell_wait(vp_arena_at(w.arena, bell), ticket, NO_END_NS);
        hear();
    }
    atomic_store(&shared->over, true);
}

/* -- the bolts */

typedef struct {
    uint32_t task;
    uint64_t seed, held[MOST_HELD];
    uint32_t held_count;
} bolt;

static void answer_a_held_one(bolt *self)
{
    vp_forest_answer_held(w.forest, self->held[0]);
    self->held[0] = self->held[--self->held_count];
}

static void process(bolt *self, uint64_t tree, uint32_t hops)
{
    for (uint32_t i = hops ? random_below(&self->seed, 3) : 0; i > 0; i--) {
        if (!self->held_count) {
            emit(self->task, tree, hops - 1);
            continue;
        }
        uint64_t parents[] = {tree, self->held[random_below(&self->seed, self->held_count)]};
        int64_t joint = vp_table_join(table_of(w, self->task), parents, 2);
        CHECK(joint >= 0);
        emit(self->task, (uint64_t)joint, hops - 1);
        ack_one(w, (uint64_t)joint);
    }
    if (random_below(&self->seed, 40) == 0)
        vp_forest_fail(w.forest, tree, REASON);
    else if (self->held_count < MOST_HELD && random_below(&self->seed, 2)) {
        self->held[self->held_count++] = tree;
        vp_forest_hold(w.forest, tree);
    } else
        ack_one(w, tree);
}

static void bolt_run(uint32_t task, uint64_t seed)
{
    bolt self = {.task = task, .seed = seed};
    uint64_t incidents = vp_forest_incidents(w.forest), tree;
    uint32_t hops;
    while (!atomic_load(&shared->over)) {
        if (vp_forest_incidents(w.forest) != incidents) {
            incidents = vp_forest_incidents(w.forest);
            CHECK(vp_table_fail_all(table_of(w, task), w.endings) >= 0);
        }
        if (claim(random_below(&self.seed, TASKS), &tree, &hops))
            process(&self, tree, hops);
        else if (self.held_count)
            answer_a_held_one(&self);
        else
            sched_yield();
        CHECK_EQUAL(vp_table_take(table_of(w, task), w.endings), 0);
    }
}

/* -- the parent */

static pid_t start(uint32_t task, uint64_t seed, const char *point, uint32_t passes)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child)
        return child;
    alarm(HANGS_AFTER_S);
    die_at(point, passes);
    if (task)
        bolt_run(task, seed);
    else
        spout_run(seed);
    _exit(0);
}

static int new_segment(uint64_t size)
{
    int segment = vp_segment_anonymous(size);
    return segment < 0 && errno == ENOSYS ? vp_segment_named("/vp-test-forest", size) : segment;
}

static void set_up(void)
{
    vp_forest_shape shape = {TASKS, TREES, LINKS};
    uint64_t size = vp_arena_rounded(vp_forest_size(shape)) + vp_arena_rounded(sizeof(record)) + 4 * VP_LINE;
    int segment = new_segment(vp_arena_segment_size(size));
    CHECK(segment >= 0);
    w = (woods){.arena = vp_arena_format(segment, size), .endings = vp_endings_new()};
    CHECK(w.arena && w.endings && close(segment) == 0);
    w.forest = vp_forest_format(w.arena, vp_arena_allocate(w.arena, vp_forest_size(shape)), shape);
    shared = vp_arena_at(w.arena, vp_arena_allocate(w.arena, sizeof(record)));
    bell = vp_arena_allocate(w.arena, vp_bell_size());
    vp_forest_set_bell(w.forest, 0, bell);
}

/* Places of a table that are neither free nor hold a tree that lives. */
static uint32_t lost_places(uint32_t table)
{
    uint32_t lost = 0;
    for (uint32_t place = 0; place < table_of(w, table)->trees_touched; place++) {
        uint64_t state = atomic_load(&vp_table_tree(table_of(w, table), place)->state);
        lost += vp_state_count(state) == VP_DONE || vp_state_count(state) == VP_DEAD;
    }
    return lost;
}

static void check_end(uint32_t given_up_before)
{
    uint32_t lost = 0;
    for (uint32_t root = 0; root < ROOTS; root++)
        CHECK(atomic_load(&shared->told[root]) == 1 || root < given_up_before);
    for (uint32_t sweep = 0; sweep < TREES; sweep++) /* joints of roots that are no more, and of such joints */
        for (uint32_t table = 0; table < TASKS; table++) {
            CHECK_EQUAL(vp_table_take(table_of(w, table), w.endings), 0);
            CHECK_EQUAL(vp_table_expire(table_of(w, table), w.endings), 0);
        }
    for (uint32_t table = 0; table < TASKS; table++) {
        CHECK_EQUAL(places_left(w, table) + lost_places(table), TREES);
        lost += lost_places(table);
    }
    CHECK(lost <= IN_HAND);
}

typedef struct {
    uint32_t victim;
    const char *point; /* NULL: after a while */
    uint32_t passes;   /* of the point before death */
    uint32_t delay_ns; /* of the while */
} fate;

/* What a supervisor does once it knows of a death. Returns the successor. */
static pid_t after_death(uint32_t task, uint64_t seed, uint32_t *given_up_before)
{
    if (task == 0)
        *given_up_before = atomic_load(&shared->begun);
    vp_table_reset(table_of(w, task));
    CHECK_EQUAL(vp_table_open(table_of(w, task)), 0);
    pid_t successor = start(task, seed, NULL, 0);
    vp_forest_incident(w.forest);
    return successor;
}

/* Whether the victim died before all was over. */
static bool run(fate f, uint64_t seed)
{
    pid_t tasks[TASKS];
    uint32_t given_up_before = 0;
    bool died = false;
    set_up();
    for (uint32_t task = 0; task < TASKS; task++)
        tasks[task] = start(task, seed + task, task == f.victim ? f.point : NULL, f.passes);
    if (!f.point) {
        nanosleep(&(struct timespec){.tv_nsec = f.delay_ns}, NULL);
        kill(tasks[f.victim], SIGKILL);
    }
    for (uint32_t running = TASKS; running > 0;) {
        int status;
        pid_t ended = waitpid(-1, &status, 0);
        CHECK(ended > 0);
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
            CHECK(ended == tasks[f.victim]);
            tasks[f.victim] = after_death(f.victim, seed + TASKS, &given_up_before);
            died = true;
        } else {
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0); /* or it hung, and SIGALRM ended it */
            running--;
        }
    }
    check_end(given_up_before);
    fell(w);
    return died;
}

static void test_every_point(uint64_t *seed)
{
    for (uint32_t i = 0; i < POINT_COUNT; i++) {
        uint32_t deaths = 0;
        for (uint32_t time = 0; time < 8; time++)
            deaths += run((fate){time % 2, POINTS[i], time < 4 ? time / 2 : random_below(seed, 30), 0}, *seed);
        if (!deaths)
            fprintf(stderr, "nobody came to \"%s\"\n", POINTS[i]);
        CHECK(deaths > 0);
    }
}

static void test_any_time(uint64_t *seed)
{
    uint32_t deaths = 0;
    for (uint32_t i = 0; i < RANDOM_ROUNDS; i++)
        deaths += run((fate){random_below(seed, TASKS), NULL, 0, random_below(seed, 1000000)}, *seed);
    CHECK(deaths > RANDOM_ROUNDS / 4);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    test_every_point(&seed);
    test_any_time(&seed);
}
