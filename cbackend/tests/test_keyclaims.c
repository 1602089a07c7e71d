/* Readers that claim key groups, get in between one another's steps, and die at any of them: each tuple has one reader,
 * and each group its tuples in order. */
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "viper/keyclaims.h"

enum { READERS = 3, GROUPS = 5, ALL = 60, MOST_AT_ONCE = 7, SEEDS = 4000 };

static const char *const POINTS[] = {
    "key claim: not exchanged", "key claim: exchanged", "key claim: come to a tuple", "key claim: not given up",
};
enum { POINT_COUNT = sizeof POINTS / sizeof *POINTS };

static vp_keyclaims *claims;
static vp_keyclaimant *claimants[READERS];
static uint16_t group_of[ALL];
static int owner_of[ALL]; /* who has processed a tuple; -1: nobody */
static bool lasts[ALL];   /* whether that is committed */
static bool is_lost[ALL]; /* with a dead reader */
static struct {
    uint64_t number; /* of its next tuple */
    uint64_t first;  /* of its slice that is not committed; its number: there is none */
    bool is_inside;  /* it is in a step */
} readers[READERS];

static uint64_t draws;
static const char *fatal; /* where a reader dies; NULL: nowhere */
static uint32_t passes_left;
static int mortal;
static jmp_buf death;
static int inside[READERS + 1], depth; /* whose steps are on the stack */

static void step(int reader);

static void get_in(const char *name)
{
    if (fatal && inside[depth] == mortal && strcmp(name, fatal) == 0 && passes_left-- == 0) {
        fatal = NULL;
        longjmp(death, 1);
    }
    int other = (int)random_below(&draws, 2 * READERS);
    if (other < READERS && !readers[other].is_inside)
        step(other);
}

/* A reader processes a tuple: those before it in its group are its own, or committed, or lost, and none comes behind. */
static void process(int reader, uint64_t number)
{
    CHECK_EQUAL(owner_of[number], -1);
    is_lost[number] = false; /* it was delivered to a dead reader, too, which had not come to it */
    owner_of[number] = reader;
    for (uint64_t other = 0; other < ALL; other++)
        if (group_of[other] == group_of[number] && other < number)
            CHECK(owner_of[other] == reader || lasts[other] || is_lost[other]);
        else if (group_of[other] == group_of[number] && other > number)
            CHECK(owner_of[other] == -1);
}

static void take(int reader)
{
    uint16_t mine[MOST_AT_ONCE];
    uint64_t first = readers[reader].number, left = ALL - first, count = 1 + random_below(&draws, MOST_AT_ONCE);
    uint64_t most = 1 + random_below(&draws, 3), own = 0;
    count = count < left ? count : left;
    uint64_t taken = vp_keyclaimant_take(claimants[reader], first, group_of + first, most, &count, mine);
    for (uint64_t i = 0; i < count; i++)
        if (mine[i]) {
            process(reader, first + i);
            own++;
        }
    CHECK_EQUAL(own, taken);
    CHECK(own <= most);
    readers[reader].first = first;
    readers[reader].number = first + count;
}

static void commit(int reader)
{
    for (uint64_t number = readers[reader].first; number < readers[reader].number; number++)
        if (owner_of[number] == reader)
            lasts[number] = true;
    readers[reader].first = readers[reader].number;
    vp_keyclaimant_release(claimants[reader], readers[reader].number);
}

static void step(int reader)
{
    readers[reader].is_inside = true;
    inside[++depth] = reader;
    if (readers[reader].first < readers[reader].number)
        commit(reader);
    else if (readers[reader].number < ALL)
        take(reader);
    depth--;
    readers[reader].is_inside = false;
}

static bool redoes; /* successors do again what was not committed */

static void begin(int reader, uint64_t number)
{
    if (claimants[reader])
        vp_keyclaimant_free(claimants[reader]);
    CHECK(claimants[reader] = vp_keyclaimant_new(claims, (uint32_t)reader, number));
}

/* The successor of a dead reader begins where that one's slice has, or goes on behind all that was delivered to it. */
static void bury(int reader)
{
    uint64_t first = readers[reader].first;
    readers[reader].is_inside = false;
    if (redoes) {
        for (uint64_t number = first; number < ALL; number++)
            if (owner_of[number] == reader)
                owner_of[number] = -1;
        readers[reader].number = first;
        begin(reader, first);
        return;
    }
    if (first == readers[reader].number) { /* it was taking more, or giving groups up */
        uint64_t end = first + MOST_AT_ONCE;
        readers[reader].number = end < ALL ? end : ALL;
    }
    for (uint64_t number = first; number < readers[reader].number; number++)
        if (owner_of[number] == reader || owner_of[number] == -1)
            is_lost[number] = true;
    readers[reader].first = readers[reader].number;
    begin(reader, readers[reader].number);
}

static void set_up(uint64_t seed)
{
    static alignas(VP_LINE) char region[2048];
    CHECK(vp_keyclaims_size(GROUPS, READERS) <= sizeof region);
    memset(region, 0, sizeof region);
    claims = vp_keyclaims_format(region, GROUPS, READERS);
    memset(lasts, 0, sizeof lasts);
    memset(is_lost, 0, sizeof is_lost);
    memset(readers, 0, sizeof readers);
    draws = seed;
    for (int number = 0; number < ALL; number++) {
        group_of[number] = (uint16_t)(random_below(&draws, 2) ? 0 : random_below(&draws, GROUPS)); /* one is hot */
        owner_of[number] = -1;
    }
    for (int reader = 0; reader < READERS; reader++)
        begin(reader, 0);
    depth = 0;
    inside[0] = -1;
}

/* Runs all to their ends; returns whether one of them has died. */
static bool run(void)
{
    volatile bool died = false;
    at_point = get_in;
    if (setjmp(death)) { /* those into whose steps it had got are in them no more: they die with it */
        died = true;
        at_point = NULL;
        for (; depth > 0; depth--)
            bury(inside[depth]);
        at_point = get_in;
    }
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        step((int)random_below(&draws, READERS));
        for (int reader = 0; reader < READERS; reader++)
            goes_on = goes_on || readers[reader].number < ALL || readers[reader].first < ALL;
    }
    at_point = NULL;
    return died;
}

static void check_end(void)
{
    for (int number = 0; number < ALL; number++)
        CHECK(lasts[number] || is_lost[number]);
    for (uint32_t group = 0; group < GROUPS; group++)
        CHECK_EQUAL(vp_keyclaims_owner(claims, group), -1);
}

static void test_each_tuple_has_one_reader_and_each_group_its_order(void)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        set_up(seed);
        CHECK(!run());
        check_end();
        CHECK_EQUAL(vp_keyclaims_frontier(claims), ALL);
        for (int number = 0; number < ALL; number++)
            CHECK(!is_lost[number]);
    }
}

/* Another reader may be ahead of a dead one's redo: it has processed none of the tuples that come again. */
static void test_deaths(bool exact)
{
    redoes = exact;
    for (int point = 0; point < POINT_COUNT; point++) {
        uint32_t deaths = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            set_up(seed);
            fatal = POINTS[point];
            passes_left = (uint32_t)(seed % 30);
            mortal = (int)(seed % READERS);
            deaths += run();
            fatal = NULL;
            for (int number = 0; number < ALL; number++)
                is_lost[number] = is_lost[number] && !lasts[number] && !exact;
            check_end();
        }
        printf("%s: %u deaths\n", POINTS[point], deaths);
        CHECK(deaths > SEEDS / 10);
    }
    redoes = false;
}

static void test_who_does_nothing_holds_up_its_group_only(void)
{
    uint64_t count = 1;
    uint16_t mine[ALL];
    set_up(1);
    for (int number = 0; number < ALL; number++)
        group_of[number] = (uint16_t)(number % GROUPS);
    CHECK_EQUAL(vp_keyclaimant_take(claimants[0], 0, group_of, 1, &count, mine), 1);
    uint64_t taken = 0;
    for (uint64_t number = 0; number < ALL; number += count) { /* it stops where it has more than its share */
        count = ALL - number;
        taken += vp_keyclaimant_take(claimants[1], number, group_of + number, ALL, &count, mine);
        for (uint64_t i = 0; i < count; i++)
            CHECK_EQUAL(mine[i], (number + i) % GROUPS != 0);
        CHECK(count);
    }
    CHECK_EQUAL(taken, ALL - ALL / GROUPS);
    vp_keyclaimant_release(claimants[0], 1); /* more was left to it */
    CHECK_EQUAL(vp_keyclaims_owner(claims, 0), 0);
    vp_keyclaimant_release(claimants[1], ALL);
    CHECK_EQUAL(vp_keyclaims_owner(claims, 1), -1);
}

/* Who has a hot group takes few others: with more it would fall behind those who have none. */
static void test_nobody_takes_more_than_its_share(void)
{
    enum { MANY = 400, HOT = 50 }; /* of a hundred tuples */
    static uint16_t groups[MANY], mine[MANY];
    set_up(1);
    for (int number = 0; number < MANY; number++)
        groups[number] = (uint16_t)(number % 100 < HOT ? 0 : 1 + number % (GROUPS - 1));
    uint64_t count;
    for (uint64_t number = 0; number < MANY - 100; number += count) { /* it gets to know the tuples */
        count = MANY - 100 - number;
        vp_keyclaimant_take(claimants[0], number, groups + number, MANY, &count, mine);
        vp_keyclaimant_release(claimants[0], number + count);
    }
    count = 100;
    CHECK_EQUAL(vp_keyclaimant_take(claimants[0], MANY - 100, groups + MANY - 100, MANY, &count, mine), HOT);
    CHECK_EQUAL(count, HOT); /* half of all, of three readers */
}

int main(void)
{
    test_nobody_takes_more_than_its_share();
    test_who_does_nothing_holds_up_its_group_only();
    test_each_tuple_has_one_reader_and_each_group_its_order();
    test_deaths(false);
    test_deaths(true);
    for (int reader = 0; reader < READERS; reader++)
        vp_keyclaimant_free(claimants[reader]);
    return 0;
}
