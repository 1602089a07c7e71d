/* Shared tables: keys of all lengths, entered by several threads and by processes that are killed; each has one row. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "shared.h"
#include "viper/arena.h"
#include "viper/segment.h"

enum { KEYS = 400, LONGEST = 40, THREADS = 4, ROUNDS = 60 };

typedef struct {
    uint8_t bytes[LONGEST];
    uint64_t length, hash;
} name;

static name names[KEYS];

/* Of all lengths, some of which are prefixes of others; some hashes are equal, others only in one half. */
static void make_names(uint64_t seed)
{
    for (uint32_t i = 0; i < KEYS; i++) {
        names[i].length = i % (LONGEST - 3) + (i >= LONGEST - 3 ? 4 : 0);
        names[i].length = names[i].length > LONGEST ? LONGEST : names[i].length;
        memset(names[i].bytes, 0, sizeof names[i].bytes);
        if (i >= LONGEST - 3)
            memcpy(names[i].bytes, &i, sizeof i);
        uint64_t high = random_below(&seed, 5), low = random_below(&seed, 30);
        names[i].hash = high << 32 | low;
    }
}

static uint64_t key_bytes(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < KEYS; i++)
        sum += names[i].length > 8 ? names[i].length : 0;
    return sum;
}

static int64_t enter(vp_shared *table, uint32_t i)
{
    return vp_shared_enter(table, names[i].hash, names[i].bytes, names[i].length);
}

static int64_t find(const vp_shared *table, uint32_t i)
{
    return vp_shared_find(table, names[i].hash, names[i].bytes, names[i].length);
}

/* Each key in one row, each row with a key or without; how many are without. */
static uint64_t check_all(const vp_shared *table, uint32_t entered)
{
    uint64_t wasted = 0, length, found = 0;
    for (uint64_t row = 0; row < vp_shared_entered(table); row++) {
        const uint8_t *key = vp_shared_key(table, row, &length);
        wasted += !key;
        for (uint32_t i = 0; key && i < KEYS; i++)
            if (names[i].length == length && memcmp(names[i].bytes, key, length) == 0) {
                CHECK_EQUAL(find(table, i), row);
                found++;
            }
    }
    CHECK_EQUAL(found, entered);
    CHECK_EQUAL(found + wasted, vp_shared_entered(table));
    CHECK(!vp_shared_key(table, vp_shared_entered(table), &length));
    return wasted;
}

static uint64_t size_of(uint64_t rows)
{
    return vp_shared_size(rows, 2, key_bytes());
}

static vp_shared *new_table(vp_arena *arena, uint64_t rows)
{
    uint64_t at = vp_arena_allocate(arena, size_of(rows));
    CHECK(at);
    return vp_shared_format(arena, at, rows, 2, key_bytes(), NULL);
}

static void test_alone(void)
{
    vp_arena *arena = vp_arena_new(2 * size_of(KEYS));
    vp_shared *table = new_table(arena, KEYS);
    for (uint32_t i = 0; i < KEYS; i++)
        CHECK_EQUAL(find(table, i), VP_SHARED_NONE);
    for (uint32_t i = 0; i < KEYS; i++) {
        CHECK_EQUAL(enter(table, i), i);
        CHECK_EQUAL(enter(table, i / 2), i / 2);
    }
    CHECK_EQUAL(check_all(table, KEYS), 0);
    CHECK_EQUAL(vp_shared_enter(table, 12345, "one too many", 12), VP_SHARED_FULL);
    CHECK_EQUAL(vp_shared_enter(table, 12345, "", UINT64_C(1) << 24), VP_SHARED_FULL);
    CHECK_EQUAL(enter(table, 7), 7);
    vp_arena_free(arena, 2 * size_of(KEYS));
}

static void test_rows(void)
{
    static const int64_t words[] = {-5, INT64_MAX};
    vp_arena *arena = vp_arena_new(size_of(3));
    vp_shared *table = new_table(arena, 3);
    CHECK_EQUAL(enter(table, 20), 0);
    CHECK_EQUAL(enter(table, 3), 1);
    CHECK(!vp_shared_is_present(table, 1));
    vp_shared_put(table, 1, words);
    CHECK(vp_shared_is_present(table, 1) && !vp_shared_is_present(table, 0));
    CHECK_EQUAL(vp_shared_get(table, 1, 0), -5);
    CHECK_EQUAL(vp_shared_get(table, 1, 1), INT64_MAX);
    CHECK_EQUAL(vp_shared_generation(table, 1), 0);
    CHECK((uint64_t *)vp_shared_row(table, 1) == (uint64_t *)arena + vp_shared_word(table, 1));
    CHECK(vp_shared_capacity(table) > 3);
    /* Up to two columns, two rows in a line; up to six, one; and from line to line beyond. */
    CHECK_EQUAL(vp_shared_word(table, 1) - vp_shared_word(table, 0), 4);
    vp_arena_free(arena, size_of(3));
}

/* A copy has what was there, and nothing of what comes later. */
static void test_copies(void)
{
    static const int64_t words[] = {7, -7}, others[] = {8, -8};
    vp_arena *arena = vp_arena_new(size_of(KEYS)), *apart = vp_arena_new(size_of(KEYS));
    vp_shared *table = new_table(arena, KEYS);
    for (uint32_t i = 0; i < KEYS / 2; i++)
        if (enter(table, i) % 3)
            vp_shared_put(table, (uint64_t)find(table, i), words);
    vp_shared *copy = vp_shared_copy(apart, vp_arena_allocate(apart, size_of(KEYS)), table);
    for (uint32_t i = 0; i < KEYS; i++)
        vp_shared_put(table, (uint64_t)enter(table, i), others);
    check_all(copy, KEYS / 2);
    for (uint32_t i = 0; i < KEYS / 2; i++) {
        uint64_t row = (uint64_t)find(copy, i);
        CHECK_EQUAL(row, find(table, i));
        CHECK_EQUAL(vp_shared_is_present(copy, row), row % 3 != 0);
        CHECK_EQUAL(vp_shared_get(copy, row, 0), row % 3 ? 7 : 0);
        CHECK_EQUAL(vp_shared_get(copy, row, 1), row % 3 ? -7 : 0);
        CHECK_EQUAL(vp_shared_word(copy, row), vp_shared_word(copy, 0) + 4 * row);
    }
    check_all(table, KEYS);
    vp_arena_free(arena, size_of(KEYS));
    vp_arena_free(apart, size_of(KEYS));
}

static void test_sizes(void)
{
    CHECK_EQUAL(vp_shared_size(0, 1, 0), 0);
    CHECK_EQUAL(vp_shared_size(1, VP_SHARED_COLUMNS + 1, 0), 0);
    CHECK_EQUAL(vp_shared_size((UINT64_C(1) << 31) + 1, 1, 0), 0);
    CHECK(vp_shared_size(10000, 14, 0) > 10000 * 128);
    CHECK(vp_shared_size(10000, 14, 0) < 13000 * 128);
}

/* Keys that are longer together than was said. */
static void test_full_heap(void)
{
    vp_arena *arena = vp_arena_new(1 << 16);
    vp_shared *table = vp_shared_format(arena, vp_arena_allocate(arena, vp_shared_size(4, 1, 40)), 4, 1, 40, NULL);
    uint8_t key[400] = {0};
    CHECK_EQUAL(vp_shared_enter(table, 1, key, 400), 0);
    CHECK_EQUAL(vp_shared_enter(table, 2, key, 399), VP_SHARED_FULL);
    CHECK_EQUAL(vp_shared_enter(table, 3, key, 8), 1);
    CHECK_EQUAL(vp_shared_enter(table, 2, key, 399), VP_SHARED_FULL);
    vp_arena_free(arena, 1 << 16);
}

/* -- threads */

static pthread_barrier_t together;
static vp_shared *entered_by_all;

typedef struct {
    uint64_t seed;
    int64_t rows[KEYS];
} thread;

static void *enter_all(void *argument)
{
    thread *self = argument;
    pthread_barrier_wait(&together);
    for (uint32_t i = 0; i < KEYS; i++) {
        uint32_t some = random_below(&self->seed, i + 1);
        if (self->rows[some] >= 0)
            CHECK_EQUAL(find(entered_by_all, some), self->rows[some]);
        self->rows[i] = enter(entered_by_all, i);
        uint64_t length;
        const uint8_t *key = vp_shared_key(entered_by_all, (uint64_t)self->rows[i], &length);
        CHECK(key && length == names[i].length && memcmp(key, names[i].bytes, length) == 0);
    }
    return NULL;
}

static void test_threads(uint64_t *seed)
{
    vp_arena *arena = vp_arena_new(size_of(KEYS));
    static thread threads[THREADS];
    pthread_t ids[THREADS];
    entered_by_all = new_table(arena, KEYS);
    CHECK(pthread_barrier_init(&together, NULL, THREADS) == 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        threads[i].seed = random_below(seed, UINT32_MAX);
        memset(threads[i].rows, -1, sizeof threads[i].rows);
        CHECK(pthread_create(&ids[i], NULL, enter_all, &threads[i]) == 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        CHECK(pthread_join(ids[i], NULL) == 0);
    for (uint32_t i = 0; i < KEYS; i++)
        for (uint32_t k = 0; k < THREADS; k++)
            CHECK_EQUAL(threads[k].rows[i], find(entered_by_all, i));
    check_all(entered_by_all, KEYS);
    CHECK(pthread_barrier_destroy(&together) == 0);
    vp_arena_free(arena, size_of(KEYS));
}

#ifdef VP_CRASH_POINTS

/* -- somebody else enters in between */

static const char *busy_point;
static uint32_t busy_with;

static void enter_there(const char *point)
{
    if (busy_point && strcmp(point, busy_point) == 0) {
        busy_point = NULL;
        enter(entered_by_all, busy_with);
    }
}

/* The same key, or one that takes the place: the row that comes too late is the next key's. */
static void test_in_between(void)
{
    vp_arena *arena = vp_arena_new(size_of(KEYS));
    entered_by_all = new_table(arena, KEYS);
    at_point = enter_there;
    for (uint32_t i = 0; i < KEYS - 1; i++) {
        busy_point = i % 3 ? "shared: written" : "shared: taken";
        busy_with = i % 4 ? i : i + 1;
        int64_t row = enter(entered_by_all, i);
        CHECK_EQUAL(find(entered_by_all, i), row);
        CHECK(!busy_point || find(entered_by_all, busy_with) >= 0);
    }
    at_point = NULL;
    enter(entered_by_all, KEYS - 1);
    CHECK(check_all(entered_by_all, KEYS) <= 1); /* all others found a use */
    vp_arena_free(arena, size_of(KEYS));
}

/* -- processes that are killed */

static const char *fatal_point;

static void die_there(const char *point)
{
    if (strcmp(point, fatal_point) == 0) {
        kill(getpid(), SIGKILL);
        pause();
    }
}

static void test_deaths(void)
{
    static const char *const points[] = {"shared: taken", "shared: written", "shared: entered"};
    uint64_t capacity = size_of(KEYS);
    int segment = vp_segment_anonymous(vp_arena_segment_size(capacity));
    CHECK(segment >= 0);
    vp_arena *arena = vp_arena_format(segment, capacity);
    CHECK(arena);
    vp_shared *table = new_table(arena, KEYS);
    for (uint32_t i = 0; i < 30; i++) {
        fatal_point = points[i % 3];
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            at_point = die_there;
            enter(table, i);
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        CHECK(i % 3 == 2 ? find(table, i) >= 0 : find(table, i) == VP_SHARED_NONE);
        CHECK_EQUAL(check_all(table, i / 3 + i % 3 / 2), i - i / 3 + 1 - i % 3 / 2);
    }
    for (uint32_t i = 0; i < KEYS; i++)
        CHECK(enter(table, i) >= 0);
    CHECK_EQUAL(check_all(table, KEYS), 20);
    vp_arena_free(arena, capacity);
    close(segment);
}

#endif

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    printf("test_shared %llu\n", (unsigned long long)seed);
    fflush(stdout);
    make_names(seed);
    test_alone();
    test_rows();
    test_copies();
    test_sizes();
    test_full_heap();
#ifdef VP_CRASH_POINTS
    test_in_between();
    test_deaths();
#endif
    for (uint32_t round = 0; round < ROUNDS; round++)
        test_threads(&seed);
    return 0;
}
