#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "harness.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "order.h"

enum { PAYLOAD_BYTES = MOST_SOURCES * MOST_SLOTS * sizeof(uint64_t) };

uint64_t check_seed;

static void *new_memory(uint64_t bytes, bool shared)
{
    if (!shared) { /* of exactly that size, so that the sanitizers see a step beyond it */
        void *block = NULL;
        CHECK(posix_memalign(&block, 128, bytes) == 0);
        return memset(block, 0, bytes);
    }
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(block != MAP_FAILED);
    return block;
}

static void free_memory(void *block, uint64_t bytes, bool shared)
{
    if (shared)
        munmap(block, bytes);
    else
        free(block);
}

/* The next position of a source, not below `last`. */
static vp_position draw(const t_plan *plan, uint32_t source, uint64_t jumbo, bool is_first, vp_position last,
                        uint64_t *seed)
{
    switch (plan->shape) {
    case SHAPE_EQUAL:
        return last;
    case SHAPE_DISJOINT: /* jumbo tuples take turns; at a turn's end they touch */
        if (is_first)
            return (vp_position){(int64_t)(jumbo * plan->sources + source) * 100, 0, 0, 0};
        return (vp_position){last.ts + random_below(seed, 4), 0, last.lo, 0};
    case SHAPE_LAGGARD: /* all but source 0 in small steps, that one in a few large ones */
        if (source == 0 && random_below(seed, 8) == 0)
            return (vp_position){last.ts + 200, 0, 0, 0};
        break;
    default:
        break;
    }
    vp_position next = {last.ts + random_below(seed, 3), last.hi, last.lo, 0};
    return next.ts > last.ts ? (vp_position){next.ts, random_below(seed, 2), 0, 0}
                             : (vp_position){last.ts, last.hi, last.lo + random_below(seed, 2), 0};
}

static void draw_action(const t_plan *plan, t_script *to, uint32_t source, vp_position *last, uint64_t *seed)
{
    t_action *next = &to->actions[to->action_count++];
    *next = (t_action){.first = to->tuples};
    if (random_below(seed, 5) == 0) {
        *last = next->promise = draw(plan, source, to->action_count, false, *last, seed);
        return;
    }
    next->count = 1 + random_below(seed, plan->jumbo);
    for (uint32_t i = 0; i < next->count; i++)
        to->positions[to->tuples++] = *last = draw(plan, source, to->action_count, i == 0, *last, seed);
}

static void draw_script(const t_plan *plan, t_script *to, uint32_t source, sl_gate *gate)
{
    uint64_t seed = plan->seed * MOST_SOURCES + source;
    vp_position last = {plan->shape == SHAPE_EQUAL ? 7 : -20, 0, 0, 0};
    *to = (t_script){.gate = gate, .source = source};
    to->positions = malloc(plan->actions * plan->jumbo * sizeof *to->positions);
    to->actions = malloc((plan->actions + 1) * sizeof *to->actions);
    CHECK(to->positions && to->actions);
    while (to->action_count < plan->actions)
        draw_action(plan, to, source, &last, &seed);
    to->actions[to->action_count++] = (t_action){.promise = VP_END};
}

static int compare_expected(const void *left, const void *right)
{
    const t_expected *a = left, *b = right;
    int order = vp_compare(a->position, b->position);
    if (order == 0)
        order = (a->source > b->source) - (a->source < b->source);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

static void sort_reference(t_world *world)
{
    for (uint32_t i = 0; i < world->plan.sources; i++)
        world->total += world->scripts[i].tuples;
    world->reference = malloc((world->total + 1) * sizeof *world->reference);
    CHECK(world->reference);
    t_expected *next = world->reference;
    for (uint32_t i = 0; i < world->plan.sources; i++)
        for (uint64_t place = 0; place < world->scripts[i].tuples; place++)
            *next++ = (t_expected){world->scripts[i].positions[place], i, place};
    qsort(world->reference, world->total, sizeof *world->reference, compare_expected);
}

/* A walk in circles does not end by itself. */
static void give_up(int signal)
{
    (void)signal;
    static const char message[] = "not so: it ended within 20 s\n";
    _exit(write(STDERR_FILENO, message, sizeof message - 1) > 0 ? 1 : 2);
}

t_world world_new(t_plan plan)
{
    signal(SIGALRM, give_up);
    alarm(20);
    CHECK(plan.sources <= MOST_SOURCES && plan.slots <= MOST_SLOTS);
    sl_size size = {plan.sources, plan.readers, plan.slots, plan.tuples};
    t_world made = {.plan = plan, .bytes = sl_gate_size(size)};
    made.gate = sl_gate_format(new_memory(made.bytes, plan.shared), size);
    made.scripts = malloc(plan.sources * sizeof *made.scripts);
    made.payloads = new_memory(PAYLOAD_BYTES, plan.shared);
    CHECK(made.scripts);
    for (uint32_t i = 0; i < plan.sources; i++) {
        draw_script(&plan, &made.scripts[i], i, made.gate);
        made.scripts[i].payloads = made.payloads + i * MOST_SLOTS;
    }
    sort_reference(&made);
    return made;
}

void world_free(t_world *world)
{
    for (uint32_t i = 0; i < world->plan.sources; i++) {
        free(world->scripts[i].positions);
        free(world->scripts[i].actions);
    }
    free(world->scripts);
    free_memory(world->payloads, PAYLOAD_BYTES, world->plan.shared);
    free_memory(world->gate, world->bytes, world->plan.shared);
    free(world->reference);
}

bool script_is_done(const t_script *script)
{
    return script->done == script->action_count;
}

t_plan plan_random(uint64_t seed)
{
    uint64_t state = check_seed = seed;
    t_plan made = {
        .sources = 1 + random_below(&state, 6),
        .readers = 1 + random_below(&state, 3),
        .slots = 1 << random_below(&state, 5),
        .tuples = 4 << random_below(&state, 4),
        .actions = 250,
        .shape = random_below(&state, SHAPES),
        .seed = seed,
    };
    made.jumbo = 1 + random_below(&state, made.tuples < MOST_TUPLES ? made.tuples : MOST_TUPLES);
    return made;
}

static bool add(t_script *script, const t_action *next)
{
    const vp_position *positions = script->positions + next->first;
    int64_t slot = sl_source_claim(script->gate, script->source, positions, next->count);
    CHECK(slot >= 0 || slot == SL_FULL);
    if (slot == SL_FULL)
        return false;
    script->payloads[slot] = next->first;
    sl_source_publish(script->gate, script->source);
    return true;
}

bool script_step(t_script *script)
{
    if (script_is_done(script) || script->is_busy)
        return false;
    const t_action *next = &script->actions[script->done];
    script->is_busy = true;
    bool was_done = next->count > 0 ? add(script, next)
                                    : sl_source_heartbeat(script->gate, script->source, next->promise);
    script->is_busy = false;
    script->done += was_done;
    return was_done;
}

bool world_is_done(const t_world *world, const t_checker *checkers)
{
    for (uint32_t i = 0; i < world->plan.sources; i++)
        if (!script_is_done(&world->scripts[i]))
            return false;
    for (uint32_t i = 0; i < world->plan.readers; i++)
        if (checkers[i].seen < world->total)
            return false;
    return true;
}

t_checker checker_new(const t_world *world, uint32_t index)
{
    t_checker made = {.world = world, .reader = sl_reader_new(world->gate, index), .into = vp_positions_new()};
    CHECK(made.reader && made.into);
    return made;
}

void checker_free(t_checker *checker)
{
    sl_reader_free(checker->reader);
    vp_positions_free(checker->into);
}

static void check_run(t_checker *checker, vp_run run, const vp_position *positions)
{
    const t_expected *next = checker->world->reference + checker->seen;
    CHECK(checker->seen + run.count <= checker->world->total);
    uint64_t payload = checker->world->scripts[run.source].payloads[run.slot];
    for (uint32_t i = 0; i < run.count; i++) {
        CHECK_EQUAL(vp_compare(positions[i], next[i].position), 0);
        CHECK_EQUAL(run.source, next[i].source);
        CHECK_EQUAL(payload + run.first + i, next[i].place);
    }
    checker->seen += run.count;
}

uint64_t checker_take(t_checker *checker, uint64_t limit, uint32_t max_runs)
{
    vp_run runs[MOST_RUNS];
    CHECK(max_runs <= MOST_RUNS);
    checker->into->length = 0;
    int64_t made = sl_reader_take(checker->reader, checker->into, limit, runs, max_runs);
    CHECK(made >= 0 && made <= max_runs && checker->into->length <= limit);
    const vp_position *positions = checker->into->data;
    for (int64_t i = 0; i < made; positions += runs[i++].count)
        check_run(checker, runs[i], positions);
    CHECK_EQUAL(positions - checker->into->data, checker->into->length);
    sl_reader_release(checker->reader);
    return checker->into->length;
}

void checker_finish(t_checker *checker)
{
    while (checker_take(checker, 1000, MOST_RUNS) > 0)
        continue;
    CHECK_EQUAL(checker->seen, checker->world->total);
    CHECK(sl_reader_drained(checker->reader));
    checker_free(checker);
}

/* The last item of a script's executed part. Tuples at a promise may still come, so it lies before them. */
static t_expected last_item(const t_script *script)
{
    t_expected last = {VP_LEAST, script->source, 0};
    for (uint64_t i = 0; i < script->done; i++) {
        const t_action *next = &script->actions[i];
        if (next->count > 0)
            last = (t_expected){script->positions[next->first + next->count - 1], script->source,
                                next->first + next->count};
        else if (vp_compare(next->promise, last.position) > 0)
            last = (t_expected){next->promise, script->source, next->first};
    }
    return last;
}

uint64_t world_ready(const t_world *world)
{
    t_expected least = {VP_END, UINT32_MAX, 0};
    for (uint32_t i = 0; i < world->plan.sources; i++) {
        t_expected last = last_item(&world->scripts[i]);
        if (compare_expected(&last, &least) < 0)
            least = last;
    }
    uint64_t ready = 0;
    while (ready < world->total && compare_expected(&world->reference[ready], &least) < 0)
        ready++;
    return ready;
}
