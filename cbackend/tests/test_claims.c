/* Readers that claim the tuples of a gate, and die at any point of it: whatever no reader has seen goes to a successor. */
#include <setjmp.h>
#include <string.h>

#include "check.h"
#include "viper/arena.h"

enum { SOURCES = 3, READERS = 3, EACH = 8, ALL = SOURCES * EACH, JUMBO = 2 };

static const char *const POINTS[] = {
    "claim: not exchanged", "claim: exchanged", "claim: noted", "take: passed",
    "take: working",        "take: delivered",  "release: not yet", "release: released",
};
enum { POINT_COUNT = sizeof POINTS / sizeof *POINTS };

static vp_gate *gate;
static vp_merge *merges[READERS];
static uint32_t times_seen[ALL]; /* of each tuple; its number is its position */
static int64_t last_seen[READERS];

static jmp_buf death;
static const char *fatal;
static uint32_t passes_left;

static void die(const char *name)
{
    if (strcmp(name, fatal) == 0 && passes_left-- == 0) {
        at_point = NULL;
        longjmp(death, 1);
    }
}

/* The tuples of three sources in turn, two in a jumbo tuple; all of them are there before anybody takes any. */
static void set_up(void)
{
    gate = new_gate((vp_gate_shape){SOURCES, READERS, 8, 64, 0, true});
    memset(times_seen, 0, sizeof times_seen);
    for (uint32_t source = 0; source < SOURCES; source++) {
        vp_ring *ring = vp_gate_ring(gate, source);
        for (uint32_t first = 0; first < EACH; first += JUMBO) {
            vp_position data[JUMBO];
            for (uint32_t i = 0; i < JUMBO; i++)
                data[i] = (vp_position){.ts = (first + i) * SOURCES + source};
            vp_positions positions = {.data = data, .length = JUMBO, .capacity = JUMBO};
            CHECK(vp_ring_claim(ring, &positions, 0, JUMBO, 0) >= 0);
            CHECK(vp_ring_publish(ring));
        }
        vp_ring_close(ring);
    }
    for (uint32_t reader = 0; reader < READERS; reader++) {
        merges[reader] = vp_merge_new(gate, reader);
        last_seen[reader] = -1;
    }
}

static void tear_down(void)
{
    for (uint32_t reader = 0; reader < READERS; reader++)
        vp_merge_free(merges[reader]);
    free(gate);
}

/* Takes up to so many tuples, sees them, and gives their slots back; returns how many they were. */
static uint64_t take(uint32_t reader, uint64_t limit)
{
    static vp_positions *of_readers[READERS];
    vp_run runs[ALL];
    if (!of_readers[reader])
        of_readers[reader] = vp_positions_new();
    vp_positions *into = of_readers[reader];
    into->length = 0;
    int64_t made = vp_merge_take(merges[reader], into, limit, runs, ALL);
    CHECK(made >= 0);
    uint64_t in_runs = 0;
    for (int64_t i = 0; i < made; i++)
        in_runs += runs[i].count;
    CHECK_EQUAL(in_runs, into->length);
    for (uint64_t i = 0; i < into->length; i++) {
        int64_t number = into->data[i].ts;
        CHECK(number > last_seen[reader]);
        last_seen[reader] = number;
        times_seen[number]++;
    }
    vp_merge_release(merges[reader]);
    vp_merge_working(merges[reader], 0);
    return into->length;
}

/* Reader 0 dies at some pass of a point; others claim before and behind it. Returns whether it came to that. */
static bool die_in(void (*dying)(const char *), const char *point, uint32_t passes, uint64_t behind)
{
    set_up();
    fatal = point;
    passes_left = passes;
    CHECK_EQUAL(take(1, 2), 2);
    at_point = dying;
    volatile bool died = true;
    if (!setjmp(death)) {
        for (int turn = 0; turn < 3; turn++)
            take(0, 7);
        died = false;
    }
    at_point = NULL;
    take(1, behind);
    take(2, behind / 2);
    vp_merge_free(merges[0]);
    uint64_t lost = vp_gate_bury_reader(gate, 0), missing = 0;
    merges[0] = vp_merge_new(gate, 0);
    for (uint64_t taken = 1; taken;) {
        taken = 0;
        for (uint32_t reader = 0; reader < READERS; reader++)
            taken += take(reader, 2);
    }
    for (uint32_t number = 0; number < ALL; number++) {
        CHECK(times_seen[number] <= 1);
        missing += !times_seen[number];
    }
    CHECK(missing <= lost);
    for (uint32_t reader = 0; reader < READERS; reader++)
        CHECK(vp_merge_drained(merges[reader]));
    if (strncmp(point, "claim: ", strlen("claim: ")) == 0)
        CHECK_EQUAL(missing, 0);
    tear_down();
    return died;
}

static void test_a_claim_that_nobody_has_seen_is_its_successors(void)
{
    for (uint32_t point = 0; point < POINT_COUNT; point++)
        for (uint64_t behind = 0; behind < 6; behind++) {
            uint32_t passes = 0;
            while (die_in(die, POINTS[point], passes, behind))
                passes++;
            CHECK(passes > 0); /* it came to the point */
        }
}

static uint64_t others;

/* Before a reader has claimed what it has seen, another claims some of it; then the reader dies. */
static void claim_in_between_and_die(const char *name)
{
    if (strcmp(name, "claim: not exchanged") == 0 && others) {
        uint64_t claimed = others;
        others = 0;
        at_point = NULL;
        CHECK_EQUAL(take(1, claimed), claimed);
        at_point = claim_in_between_and_die;
        return;
    }
    die(name);
}

/* Whoever left out what another had claimed, and dies, has a successor that leaves it out, too. */
static void test_what_was_left_out_is_not_its_successors(void)
{
    for (uint32_t point = 0; point < POINT_COUNT; point++)
        for (uint64_t claimed = 1; claimed < 7; claimed++) {
            others = claimed;
            uint32_t passes = 0;
            while (die_in(claim_in_between_and_die, POINTS[point], passes, 3)) {
                others = claimed;
                passes++;
            }
            CHECK(passes > 0); /* it came to the point */
        }
}

static void claim_in_between(const char *name)
{
    if (strcmp(name, "claim: not exchanged") == 0) {
        at_point = NULL;
        CHECK_EQUAL(take(1, others), others);
    }
}

/* Another is faster: it has claimed some of what a reader is about to claim, or all of it, and more. */
static void test_what_another_has_claimed_is_left_out(void)
{
    for (others = 1; others < 9; others++) {
        set_up();
        at_point = claim_in_between;
        CHECK_EQUAL(take(0, 5), others < 5 ? 5 - others : 5);
        CHECK(at_point == NULL); /* it came to the point */
        while (take(0, 3) + take(1, 4))
            ;
        for (uint32_t number = 0; number < ALL; number++)
            CHECK_EQUAL(times_seen[number], 1);
        tear_down();
    }
}

/* The counts of a reader are of what it has claimed; what others have claimed no longer waits for it. */
static void test_counts_are_of_its_claims(void)
{
    set_up();
    CHECK_EQUAL(take(0, 3), 3);
    CHECK_EQUAL(take(1, 4), 4);
    CHECK_EQUAL(take(0, 5), 5);
    CHECK_EQUAL(vp_gate_claims_of(gate, 0), 2);
    CHECK_EQUAL(vp_gate_claims_of(gate, 1), 1);
    CHECK_EQUAL(vp_gate_claims_of(gate, 2), 0);
    uint64_t delivered[READERS] = {0, 0, 0};
    for (uint32_t reader = 0; reader < READERS; reader++)
        for (uint32_t source = 0; source < SOURCES; source++)
            delivered[reader] += vp_gate_delivered(gate, reader, source).delivered_tuples;
    CHECK_EQUAL(delivered[0], 8);
    CHECK_EQUAL(delivered[1], 4);
    CHECK_EQUAL(delivered[2], 0);
    CHECK_EQUAL(vp_gate_delivered(gate, 0, 0).waiting_tuples, EACH - 4);
    tear_down();
}

/* What is claimed and put back stays its reader's, also if it dies then. */
static void test_what_was_put_back_is_its_successors(void)
{
    set_up();
    vp_positions *into = vp_positions_new();
    vp_run runs[ALL];
    CHECK_EQUAL(vp_merge_take(merges[0], into, 5, runs, ALL), 5); /* 0 to 4, of three sources in turn */
    vp_merge_put_back(merges[0], 1, 1);                              /* 4 */
    vp_merge_put_back(merges[0], 0, 1);                              /* 3 */
    CHECK_EQUAL(vp_gate_delivered(gate, 0, 0).delivered_tuples, 1);
    CHECK_EQUAL(vp_gate_delivered(gate, 0, 1).delivered_tuples, 1);
    CHECK_EQUAL(vp_gate_delivered(gate, 0, 2).delivered_tuples, 1);
    CHECK_EQUAL(vp_merge_frontier(merges[0]).ts, 3);
    CHECK_EQUAL(vp_merge_frontier(merges[1]).ts, 5);
    vp_merge_working(merges[0], 0);
    vp_merge_free(merges[0]);
    CHECK_EQUAL(vp_gate_bury_reader(gate, 0), 0);
    merges[0] = vp_merge_new(gate, 0);
    CHECK_EQUAL(take(1, 2), 2);
    CHECK_EQUAL(take(0, 9), 2);
    CHECK_EQUAL(last_seen[0], 4);
    vp_positions_free(into);
    tear_down();
}

static vp_bell *bells[2];
static uint32_t ticket;

/* The one that rests looks, and is about to sleep, just before another claims. */
static void look_before_the_claim(const char *name)
{
    if (strcmp(name, "claim: not exchanged") == 0) {
        at_point = NULL;
        CHECK_EQUAL(vp_merge_frontier(merges[2]).ts, 0);
        ticket = vp_bell_ticket(bells[1]);
    }
}

/* Readers 0 and 1 share a bell, and reader 2 has one of its own. */
static void test_who_rests_is_told_of_each_claim(void)
{
    vp_gate_shape shape = {1, READERS, 8, 64, 0, true};
    vp_arena *arena = vp_arena_new(vp_gate_size(shape) + (1 << 12));
    CHECK(arena);
    gate = vp_gate_format(arena, vp_arena_allocate(arena, vp_gate_size(shape)), shape);
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t offset = vp_arena_allocate(arena, vp_bell_size());
        bells[i] = (vp_bell *)((char *)arena + offset);
        vp_gate_set_reader_bell(gate, 2 * i, offset);
        if (!i)
            vp_gate_set_reader_bell(gate, 1, offset);
    }
    for (uint32_t i = 0; i < READERS; i++) {
        merges[i] = vp_merge_new(gate, i);
        last_seen[i] = -1;
    }
    vp_position data[ALL];
    for (uint32_t i = 0; i < ALL; i++)
        data[i] = (vp_position){.ts = i};
    vp_positions positions = {.data = data, .length = ALL, .capacity = ALL};
    CHECK(vp_ring_claim(vp_gate_ring(gate, 0), &positions, 0, ALL, 0) >= 0);
    CHECK(vp_ring_publish(vp_gate_ring(gate, 0)));
    vp_gate_rest_reader(gate, 1, true);
    vp_gate_rest_reader(gate, 2, true);
    uint32_t shared = vp_bell_ticket(bells[0]);
    at_point = look_before_the_claim;
    CHECK_EQUAL(take(0, 3), 3);
    CHECK(vp_bell_ticket(bells[1]) != ticket);
    CHECK_EQUAL(vp_bell_ticket(bells[0]), shared); /* reader 1 is run by the thread that has claimed */
    CHECK_EQUAL(vp_merge_frontier(merges[2]).ts, 3);
    vp_gate_rest_reader(gate, 2, false);
    ticket = vp_bell_ticket(bells[1]);
    CHECK_EQUAL(take(0, 3), 3);
    CHECK_EQUAL(vp_bell_ticket(bells[1]), ticket);
    vp_gate_rest_reader(gate, 2, true); /* reader 1 may have to claim now */
    CHECK(vp_bell_ticket(bells[0]) != shared);
    vp_merge_free(merges[0]);
    merges[0] = vp_merge_new(gate, 0); /* behind a death: the last claim may have been told to nobody */
    CHECK(vp_bell_ticket(bells[1]) != ticket);
    for (uint32_t i = 0; i < READERS; i++)
        vp_merge_free(merges[i]);
    vp_arena_free(arena, arena->capacity);
}

int main(void)
{
    test_who_rests_is_told_of_each_claim();
    test_a_claim_that_nobody_has_seen_is_its_successors();
    test_what_another_has_claimed_is_left_out();
    test_what_was_left_out_is_not_its_successors();
    test_counts_are_of_its_claims();
    test_what_was_put_back_is_its_successors();
}
