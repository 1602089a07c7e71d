#define _XOPEN_SOURCE 700 /* ucontext */

#include "explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum {
    MAIN = EXPLORE_THREADS, /* what prepares, judges and decides */
    MOST_WORDS = 64,
    MOST_WAITING = 8,
    MOST_DEPTH = 2000,
    STACK = 1 << 16,
    MOST_STATES = 1 << 23, /* a power of two */
};

typedef enum { START, STEP, AWAIT, LOAD, STORE, EXCHANGE, ADD, COMPARE } op_kind;
static const char *const op_names[] = {"start", "step", "await", "load", "store", "exchange", "add", "compare"};

typedef struct {
    op_kind kind;
    _Atomic uint64_t *word;
    uint64_t value, expected;
    memory_order order;
} x_op;

/* How many releases of each thread are known. */
typedef struct {
    uint32_t of[EXPLORE_THREADS];
} x_clock;

/* A store that waits in its thread's buffer. */
typedef struct {
    _Atomic uint64_t *word;
    uint64_t value;
    bool is_release;
    x_clock clock; /* what who reads it with acquire knows */
} x_waiting;

typedef struct {
    ucontext_t context;
    bool is_done;
    x_op op; /* what it does when it goes on */
    uint64_t history; /* a hash of its operations and of what it has read */
    x_clock clock;
    uint32_t waiting_count;
    x_waiting waiting[MOST_WAITING];
} x_thread;

typedef struct {
    const _Atomic uint64_t *at;
    bool is_data;
    x_clock clock;            /* of the release that its value comes from */
    uint32_t writer, written; /* data: who stored it last, at which count of its releases */
    x_clock reads;            /* data: the counts at which others have loaded it */
} x_word;

/* What can happen next: a thread goes on, or a store of its buffer becomes visible. */
typedef struct {
    uint32_t thread;
    int32_t waiting; /* -1: the thread goes on */
} x_action;

typedef struct {
    uint32_t thread;
    x_op op;
    uint64_t found;
} x_line;

static const explore_scenario *scenario;
static x_thread threads[EXPLORE_THREADS + 1];
static char stacks[EXPLORE_THREADS][STACK];
static x_word words[MOST_WORDS];
static uint32_t word_count;
static uint32_t current = MAIN;
static struct {
    uint32_t chosen, count;
} path[MOST_DEPTH];
static uint32_t depth, path_length;
static x_line lines[MOST_DEPTH];
static uint32_t line_count;
static uint64_t *states;
static explored counts;
static bool is_cut; /* the execution came to a state that was met before */

/* ---- failures ---- */

static void print_line(x_line line)
{
    fprintf(stderr, "  thread %u: %-8s", line.thread, op_names[line.op.kind]);
    if (line.op.word)
        fprintf(stderr, " word at %4td, value %llu, order %d; it held %llu",
                (const char *)line.op.word - (const char *)scenario->world, (unsigned long long)line.op.value,
                (int)line.op.order, (unsigned long long)line.found);
    fprintf(stderr, "\n");
}

_Noreturn void explore_fail(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s, after these operations:\n", scenario->name);
    for (uint32_t i = 0; i < line_count; i++)
        print_line(lines[i]);
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
    abort();
}

/* ---- happens-before ---- */

static x_word *word_at(const _Atomic uint64_t *at)
{
    uint32_t i = 0;
    while (i < word_count && words[i].at != at)
        i++;
    EXPLORE_CHECK(i < MOST_WORDS);
    if (i == word_count)
        words[word_count++] = (x_word){.at = at, .writer = MAIN};
    return &words[i];
}

static void join(x_clock *into, x_clock other)
{
    for (uint32_t i = 0; i < EXPLORE_THREADS; i++)
        into->of[i] = into->of[i] > other.of[i] ? into->of[i] : other.of[i];
}

static bool is_acquire(memory_order order)
{
    return order == memory_order_acquire || order == memory_order_acq_rel || order == memory_order_seq_cst;
}

static bool is_release(memory_order order)
{
    return order == memory_order_release || order == memory_order_acq_rel || order == memory_order_seq_cst;
}

static void note_access(x_word *word, bool stores)
{
    if (!word->is_data)
        return;
    x_clock known = threads[current].clock;
    bool no_race = word->writer == MAIN || word->writer == current || word->written < known.of[word->writer];
    for (uint32_t i = 0; stores && i < scenario->threads; i++)
        no_race &= i == current || word->reads.of[i] == 0 || word->reads.of[i] - 1 < known.of[i];
    EXPLORE_CHECK(no_race);
    if (stores) {
        word->writer = current;
        word->written = known.of[current];
    } else {
        word->reads.of[current] = known.of[current] + 1;
    }
}

/* ---- memory ---- */

static uint64_t *memory(const _Atomic uint64_t *word)
{
    return (uint64_t *)(uintptr_t)word;
}

static bool waits_for(const x_thread *thread, const _Atomic uint64_t *word)
{
    for (uint32_t i = 0; i < thread->waiting_count; i++)
        if (thread->waiting[i].word == word)
            return true;
    return false;
}

/* A thread sees what it has stored itself. */
static uint64_t value_for(const x_thread *thread, const _Atomic uint64_t *word)
{
    for (uint32_t i = thread->waiting_count; i-- > 0;)
        if (thread->waiting[i].word == word)
            return thread->waiting[i].value;
    return *memory(word);
}

static bool may_become_visible(const x_thread *thread, uint32_t which)
{
    if (thread->waiting[which].is_release)
        return which == 0;
    for (uint32_t i = 0; i < which; i++)
        if (thread->waiting[i].word == thread->waiting[which].word)
            return false;
    return true;
}

static void make_visible(x_thread *thread, uint32_t which)
{
    x_waiting store = thread->waiting[which];
    *memory(store.word) = store.value;
    word_at(store.word)->clock = store.clock;
    memmove(&thread->waiting[which], &thread->waiting[which + 1],
            (--thread->waiting_count - which) * sizeof *thread->waiting);
}

/* ---- decisions ---- */

static bool may_go_on(const x_thread *thread)
{
    const x_op *op = &thread->op;
    switch (op->kind) {
    case AWAIT: return value_for(thread, op->word) != op->value;
    case STORE: return op->order != memory_order_seq_cst ? thread->waiting_count < MOST_WAITING : !thread->waiting_count;
    case EXCHANGE:
    case ADD:
    case COMPARE: return is_release(op->order) ? !thread->waiting_count : !waits_for(thread, op->word);
    default: return true;
    }
}

static uint32_t list_actions(x_action *into)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scenario->threads; i++) {
        if (!threads[i].is_done && may_go_on(&threads[i]))
            into[count++] = (x_action){i, -1};
        for (uint32_t j = 0; j < threads[i].waiting_count; j++)
            if (may_become_visible(&threads[i], j))
                into[count++] = (x_action){i, (int32_t)j};
    }
    return count;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static uint64_t mix_clock(uint64_t hash, x_clock clock)
{
    for (uint32_t i = 0; i < EXPLORE_THREADS; i++)
        hash = mix(hash, clock.of[i]);
    return hash;
}

static uint64_t hash_of_thread(uint64_t hash, const x_thread *thread)
{
    hash = mix_clock(mix(hash, thread->history), thread->clock);
    hash = mix(hash, thread->is_done + 2 * thread->waiting_count);
    for (uint32_t i = 0; i < thread->waiting_count; i++) {
        const x_waiting *store = &thread->waiting[i];
        hash = mix_clock(mix(mix(hash, (uintptr_t)store->word), store->value * 2 + store->is_release), store->clock);
    }
    return hash;
}

static uint64_t hash_of_state(void)
{
    uint64_t hash = 1, sum = 0;
    for (size_t i = 0; i < scenario->bytes / sizeof(uint64_t); i++)
        hash = mix(hash, ((const uint64_t *)scenario->world)[i]);
    for (uint32_t i = 0; i < scenario->threads; i++)
        hash = hash_of_thread(hash, &threads[i]);
    for (uint32_t i = 0; i < word_count; i++) { /* in any order */
        uint64_t own = mix_clock(mix((uintptr_t)words[i].at, words[i].writer), words[i].clock);
        sum += mix_clock(mix(own, words[i].written), words[i].reads);
    }
    hash = mix(hash, sum);
    return hash ? hash : 1;
}

/* True if the state was not met before. */
static bool enter_state(void)
{
    uint64_t hash = hash_of_state();
    uint64_t place = hash & (MOST_STATES - 1);
    while (states[place] && states[place] != hash)
        place = (place + 1) & (MOST_STATES - 1);
    if (states[place])
        return false;
    states[place] = hash;
    EXPLORE_CHECK(++counts.states < MOST_STATES / 2);
    return true;
}

static void go_to(uint32_t thread)
{
    uint32_t from = current;
    current = thread;
    if (from != thread)
        swapcontext(&threads[from].context, &threads[thread].context);
}

static bool is_over(void)
{
    for (uint32_t i = 0; i < scenario->threads; i++)
        if (!threads[i].is_done || threads[i].waiting_count)
            return false;
    return true;
}

/* The next decision: as the path says, or, beyond its end, the first of those that there are. */
static bool decide(x_action *into)
{
    x_action actions[EXPLORE_THREADS * (MOST_WAITING + 1)];
    uint32_t count = list_actions(actions);
    bool somebody_goes_on = count > 0;
    EXPLORE_CHECK(somebody_goes_on);
    EXPLORE_CHECK(depth < MOST_DEPTH);
    if (depth == path_length) {
        if (!enter_state())
            return false;
        path[path_length].chosen = 0;
        path[path_length++].count = count;
    }
    EXPLORE_CHECK(path[depth].count == count); /* or the scenario is not the same each time */
    *into = actions[path[depth++].chosen];
    return true;
}

/* Returns once the calling thread has its turn. */
static void await_turn(void)
{
    for (x_action next; !is_over();) {
        if (!decide(&next)) {
            is_cut = true;
            break;
        }
        if (next.waiting < 0) {
            go_to(next.thread);
            return;
        }
        make_visible(&threads[next.thread], (uint32_t)next.waiting);
    }
    go_to(MAIN);
}

/* ---- operations ---- */

static x_thread *begin(x_op op)
{
    x_thread *own = &threads[current];
    own->op = op;
    if (current != MAIN)
        await_turn();
    return own;
}

static void end(x_thread *own, uint64_t found)
{
    if (current == MAIN)
        return;
    own->history = mix(mix(mix(own->history, own->op.kind), (uintptr_t)own->op.word), found);
    EXPLORE_CHECK(line_count < MOST_DEPTH);
    lines[line_count++] = (x_line){current, own->op, found};
}

uint64_t explore_load(const _Atomic uint64_t *word, memory_order order)
{
    x_thread *own = begin((x_op){LOAD, (_Atomic uint64_t *)(uintptr_t)word, 0, 0, order});
    uint64_t found = value_for(own, word);
    if (current != MAIN) {
        if (is_acquire(order) && !waits_for(own, word))
            join(&own->clock, word_at(word)->clock);
        note_access(word_at(word), false);
    }
    end(own, found);
    return found;
}

void explore_store(_Atomic uint64_t *word, uint64_t value, memory_order order)
{
    x_thread *own = begin((x_op){STORE, word, value, 0, order});
    if (current == MAIN) {
        *memory(word) = value;
        return;
    }
    note_access(word_at(word), true);
    x_waiting store = {word, value, is_release(order), {{0}}};
    if (store.is_release) {
        own->clock.of[current]++;
        store.clock = own->clock;
    }
    own->waiting[own->waiting_count++] = store;
    if (order == memory_order_seq_cst)
        make_visible(own, 0);
    end(own, *memory(word));
}

/* The clocks of an operation that loads and stores at once, which continues the release that it reads from. */
static void pass_clocks(x_thread *own, const _Atomic uint64_t *at, memory_order order)
{
    if (current == MAIN)
        return;
    x_word *word = word_at(at);
    if (is_acquire(order))
        join(&own->clock, word->clock);
    if (is_release(order)) {
        own->clock.of[current]++;
        join(&word->clock, own->clock);
    }
}

uint64_t explore_exchange(_Atomic uint64_t *word, uint64_t value, memory_order order)
{
    x_thread *own = begin((x_op){EXCHANGE, word, value, 0, order});
    uint64_t found = *memory(word);
    *memory(word) = value;
    pass_clocks(own, word, order);
    end(own, found);
    return found;
}

uint64_t explore_add(_Atomic uint64_t *word, uint64_t value, memory_order order)
{
    x_thread *own = begin((x_op){ADD, word, value, 0, order});
    uint64_t found = *memory(word);
    *memory(word) = found + value;
    pass_clocks(own, word, order);
    end(own, found);
    return found;
}

bool explore_compare_exchange(_Atomic uint64_t *word, uint64_t *expected, uint64_t value, memory_order success,
                              memory_order failure)
{
    x_thread *own = begin((x_op){COMPARE, word, value, *expected, success});
    uint64_t found = *memory(word);
    bool is_same = found == *expected;
    if (is_same) {
        *memory(word) = value;
        pass_clocks(own, word, success);
    } else if (current != MAIN && is_acquire(failure)) {
        join(&own->clock, word_at(word)->clock);
    }
    *expected = found;
    end(own, found);
    return is_same;
}

void explore_data(const _Atomic uint64_t *word)
{
    word_at(word)->is_data = true;
}

void explore_step(void)
{
    end(begin((x_op){.kind = STEP}), 0);
}

void explore_await_other_than(const _Atomic uint64_t *word, uint64_t value)
{
    x_thread *own = begin((x_op){AWAIT, (_Atomic uint64_t *)(uintptr_t)word, value, 0, memory_order_relaxed});
    end(own, value_for(own, word));
}

/* ---- executions ---- */

static void run_thread(void)
{
    end(&threads[current], 0);
    scenario->run(current);
    threads[current].is_done = true;
    await_turn();
}

static void prepare_execution(void)
{
    memset(scenario->world, 0, scenario->bytes);
    word_count = line_count = depth = 0;
    is_cut = false;
    current = MAIN;
    for (uint32_t i = 0; i < scenario->threads; i++) {
        x_thread *made = &threads[i];
        made->is_done = false;
        made->op = (x_op){.kind = START};
        made->history = 1;
        made->waiting_count = 0;
        made->clock = (x_clock){{0}};
        getcontext(&made->context);
        made->context.uc_stack.ss_sp = stacks[i];
        made->context.uc_stack.ss_size = STACK;
        makecontext(&made->context, run_thread, 0);
    }
    scenario->prepare();
}

/* To the last decision that leaves another choice; false if there is none. */
static bool choose_anew(void)
{
    while (path_length > 0 && path[path_length - 1].chosen + 1 == path[path_length - 1].count)
        path_length--;
    if (path_length == 0)
        return false;
    path[path_length - 1].chosen++;
    return true;
}

explored explore(const explore_scenario *of)
{
    scenario = of;
    counts = (explored){0};
    path_length = 0;
    states = calloc(MOST_STATES, sizeof *states);
    if (!states)
        abort();
    do {
        prepare_execution();
        await_turn();
        if (!is_cut) {
            counts.executions++;
            scenario->judge();
        }
    } while (choose_anew());
    free(states);
    return counts;
}
