/* A bell loses no ring: on one thread, with the other side getting in at each step, and between two. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 20000, TOO_LONG_S = 10 };
static const int64_t NO_END_NS = INT64_C(3600000000000);

static vp_bell bell;

static void test_a_ring_after_the_ticket_ends_the_wait(void)
{
    uint32_t ticket = vp_bell_ticket(&bell);
    vp_bell_ring(&bell);
    CHECK_EQUAL(vp_bell_ticket(&bell), ticket + 1);
    vp_bell_wait(&bell, ticket, NO_END_NS);
    vp_bell_wait(&bell, ticket + 1, 0);
    vp_bell_wait(&bell, ticket + 1, -5);
    vp_bell_wait(&bell, ticket + 1, 2000000);
    CHECK_EQUAL(atomic_load(&bell.sleepers), 0);
}

static void test_tickets_wrap_around(void)
{
    atomic_store(&bell.sequence, UINT32_MAX);
    uint32_t ticket = vp_bell_ticket(&bell);
    vp_bell_ring(&bell);
    CHECK_EQUAL(vp_bell_ticket(&bell), 0);
    vp_bell_wait(&bell, ticket, NO_END_NS);
}

static void ring_when_counted(const char *name)
{
    at_point = NULL;
    CHECK(strcmp(name, "bell: counted") == 0);
    vp_bell_ring(&bell);
}

static void test_a_ring_between_the_two_looks(void)
{
    at_point = ring_when_counted;
    vp_bell_wait(&bell, vp_bell_ticket(&bell), NO_END_NS);
}

static void test_who_died_asleep_is_forgotten(void)
{
    atomic_store(&bell.sleepers, 3);
    vp_bell_take_over(&bell);
    CHECK_EQUAL(atomic_load(&bell.sleepers), 0);
}

/* Two threads in turn: each makes the number odd, or even, and waits for the other. */
static vp_bell bells[2];
static _Atomic uint32_t turn;

static void linger(const char *name)
{
    (void)name;
    static _Thread_local uint64_t seed = 5;
    if (random_below(&seed, 3) == 0)
        sched_yield();
}

static void *play(void *argument)
{
    uint32_t self = *(uint32_t *)argument;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (;;) {
            uint32_t ticket = vp_bell_ticket(&bells[self]);
            /* Relaxed: it is the bell that orders. */
            if (atomic_load_explicit(&turn, memory_order_relaxed) % 2 == self)
                break;
            linger("before the wait");
            vp_bell_wait(&bells[self], ticket, NO_END_NS);
        }
        atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed);
        vp_bell_ring(&bells[1 - self]);
    }
    return NULL;
}

/* The time is that without a turn: where bells poll, all of them take long on a busy machine. */
static void too_long(int signal)
{
    (void)signal;
    static uint32_t before;
    uint32_t now = atomic_load(&turn);
    if (now != before) {
        before = now;
        alarm(TOO_LONG_S);
        return;
    }
    static const char message[] = "a ring was lost: not so\n";
    (void)!write(2, message, sizeof message - 1);
    _exit(1);
}

/* `signal` would call too_long for the first alarm only, and let the second one kill. */
static void watch(void)
{
    struct sigaction action = {.sa_handler = too_long};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    alarm(TOO_LONG_S);
}

static void test_two_in_turn(void)
{
    pthread_t threads[2];
    uint32_t names[] = {0, 1};
    at_point = linger;
    watch();
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, play, &names[i]) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    alarm(0);
    CHECK_EQUAL(atomic_load(&turn), 2 * ROUNDS);
}

static void *sleep_once(void *ticket)
{
    vp_bell_wait(&bell, *(uint32_t *)ticket, NO_END_NS);
    return NULL;
}

static pthread_t sleeper;
static uint32_t its_ticket;

/* Another falls asleep before the ring. That it has, by the time it is given, only makes the check
 * sharper: a bell that is right wakes it in any case. */
static void fall_asleep_before(const char *name)
{
    if (strcmp(name, "bell: not yet"))
        return;
    at_point = NULL;
    its_ticket = vp_bell_ticket(&bell);
    CHECK(pthread_create(&sleeper, NULL, sleep_once, &its_ticket) == 0);
    while (atomic_load(&bell.sleepers) == 0)
        sched_yield();
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
}

static void test_who_falls_asleep_before_the_ring_is_woken(void)
{
    at_point = fall_asleep_before;
    watch();
    vp_bell_ring(&bell);
    CHECK(at_point == NULL);
    CHECK(pthread_join(sleeper, NULL) == 0);
    alarm(0);
}

int main(void)
{
    test_a_ring_after_the_ticket_ends_the_wait();
    test_tickets_wrap_around();
    test_a_ring_between_the_two_looks();
    test_who_died_asleep_is_forgotten();
    test_who_falls_asleep_before_the_ring_is_woken();
    test_two_in_turn();
}
