#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include "crew.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_TASKS = 64, SLOTS = 64 };

typedef struct {
    uint64_t started, ended; /* by the wall clock */
    uint64_t cpu;
    bool failed;
} worker_result;

/* What all workers see, in memory that processes share. */
typedef struct {
    pthread_barrier_t start;
    worker_result workers[MOST_TASKS];
    task_result readers[CREW_READERS];
} b_board;

typedef struct {
    crew_plan plan;
    b_board *board;
    void *memory; /* that the gate lies in */
    uint64_t bytes;
    void *gate;
    uint32_t index;
} b_worker;

static uint64_t now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static b_task new_task(const b_worker *worker, uint32_t number)
{
    const crew_plan *plan = &worker->plan;
    b_task made = {.subject = plan->subject, .gate = worker->gate, .is_checked = plan->is_checked};
    made.is_reader = number >= plan->sources;
    made.index = made.is_reader ? number - plan->sources : number;
    if (made.is_reader)
        made.result = &worker->board->readers[made.index];
    else
        made.load = load_of(plan->kind, made.index, plan->sources, plan->jumbo, plan->tuples);
    return made;
}

/* A turn for each task that is not done. */
static bool pass(b_task *tasks, uint32_t count, uint32_t *open)
{
    bool worked = false;
    *open = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (tasks[i].is_done)
            continue;
        worked |= task_turn(&tasks[i]);
        *open += !tasks[i].is_done;
    }
    return worked;
}

/* Returns the processor time of the passes that had something to do. */
static uint64_t run_tasks(b_task *tasks, uint32_t count)
{
    uint64_t cpu = 0, before = now(CLOCK_THREAD_CPUTIME_ID);
    for (uint32_t open = count; open > 0;) {
        bool worked = pass(tasks, count, &open);
        uint64_t after = now(CLOCK_THREAD_CPUTIME_ID);
        if (worked) {
            cpu += after - before;
            before = after;
        } else {
            sched_yield();
            before = now(CLOCK_THREAD_CPUTIME_ID);
        }
    }
    return cpu;
}

static bool has_failed(const b_board *board, uint32_t workers)
{
    bool failed = false;
    for (uint32_t i = 0; i < workers; i++)
        failed |= board->workers[i].failed;
    return failed;
}

/* So that first touches are not measured; where the system cannot do it, they are. */
static void populate(const b_worker *worker)
{
#ifdef MADV_POPULATE_WRITE
    (void)madvise(worker->memory, worker->bytes, MADV_POPULATE_WRITE);
#else
    (void)worker;
#endif
}

/* Tasks are dealt like cards, sources first. */
static void work(const b_worker *worker)
{
    worker_result *result = &worker->board->workers[worker->index];
    uint32_t count = 0;
    b_task tasks[MOST_TASKS];
    for (uint32_t i = worker->index; i < worker->plan.sources + worker->plan.readers; i += worker->plan.workers) {
        tasks[count] = new_task(worker, i);
        result->failed |= !task_begin(&tasks[count++]);
    }
    populate(worker);
    pthread_barrier_wait(&worker->board->start);
    if (has_failed(worker->board, worker->plan.workers))
        return; /* nobody begins: the others' tasks would wait for this one's */
    result->started = now(CLOCK_MONOTONIC);
    result->cpu = run_tasks(tasks, count);
    result->ended = now(CLOCK_MONOTONIC);
    while (count > 0)
        task_end(&tasks[--count]);
}

static void *work_on_thread(void *argument)
{
    work(argument);
    return NULL;
}

static bool run_threads(b_worker *workers, uint32_t count)
{
    pthread_t threads[MOST_TASKS];
    for (uint32_t i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work_on_thread, &workers[i]) != 0)
            abort(); /* those before it wait at the barrier */
    for (uint32_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return true;
}

static void end_processes(const pid_t *children, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        kill(children[i], SIGKILL);
}

/* Waits for them; when one fails the others would wait for it, and are ended. */
static bool join_processes(pid_t *children, uint32_t count)
{
    bool succeeded = true;
    while (count > 0) {
        int status;
        pid_t ended = wait(&status);
        for (uint32_t i = 0; i < count; i++)
            if (children[i] == ended)
                children[i] = children[--count];
        succeeded &= status == 0;
        if (!succeeded)
            end_processes(children, count);
    }
    return succeeded;
}

static bool run_processes(b_worker *workers, uint32_t count)
{
    pid_t children[MOST_TASKS];
    uint32_t begun = 0;
    while (begun < count && (children[begun] = fork()) > 0)
        begun++;
    if (begun < count && children[begun] == 0) {
        work(&workers[begun]);
        _exit(0);
    }
    if (begun < count)
        end_processes(children, begun);
    return join_processes(children, begun) && begun == count;
}

static crew_result summary(const b_board *board, uint32_t workers)
{
    crew_result made = {0};
    uint64_t started = UINT64_MAX, ended = 0;
    for (uint32_t i = 0; i < workers; i++) {
        const worker_result *its = &board->workers[i];
        started = its->started < started ? its->started : started;
        ended = its->ended > ended ? its->ended : ended;
        made.cpu_ns += (double)its->cpu;
    }
    made.wall_ns = (double)(ended - started);
    memcpy(made.readers, board->readers, sizeof made.readers);
    return made;
}

static void *new_memory(uint64_t bytes)
{
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

static bool run_on(b_board *board, void *memory, crew_plan plan, subject_size size, crew_result *result)
{
    b_worker workers[MOST_TASKS];
    void *gate = plan.subject->format(memory, size);
    for (uint32_t i = 0; i < plan.workers; i++)
        workers[i] = (b_worker){plan, board, memory, plan.subject->size(size), gate, i};
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&board->start, &shared, plan.workers);
    bool succeeded = (plan.processes ? run_processes : run_threads)(workers, plan.workers);
    *result = summary(board, plan.workers);
    return succeeded && !has_failed(board, plan.workers);
}

bool crew_run(crew_plan plan, crew_result *result)
{
    subject_size size = {plan.sources, plan.readers, SLOTS, plan.room};
    if (plan.workers > plan.sources + plan.readers)
        plan.workers = plan.sources + plan.readers;
    uint64_t bytes = plan.subject->size(size);
    b_board *board = new_memory(sizeof *board);
    void *memory = new_memory(bytes);
    bool succeeded = board && memory && run_on(board, memory, plan, size, result);
    if (board)
        munmap(board, sizeof *board);
    if (memory)
        munmap(memory, bytes);
    return succeeded;
}
