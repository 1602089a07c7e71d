/* What is left by a worker that dies between two steps of a change, a join or a take; and others who get in
 * between two steps of one that lives. A death is a jump out of the point: what was to follow never happens. */
#include <setjmp.h>

#include "forest_check.h"

enum { REASON = 7, TREES = 20, LINKS = 20 };

static jmp_buf death;
static const char *point;
static uint32_t passes;
static void (*meanwhile)(void);

static void die_there(const char *name)
{
    if (strcmp(name, point) == 0 && passes-- == 0) {
        at_point = NULL;
        longjmp(death, 1);
    }
}

static void get_in(const char *name)
{
    if (strcmp(name, point) || passes-- > 0)
        return;
    at_point = NULL;
    meanwhile();
}

static woods w;
static uint64_t roots[4], joint;

/* Four roots; a joint of the first two, which are held open by it alone. The fourth has been acked. */
static void set_up(void)
{
    w = plant_woods(2, TREES, LINKS);
    CHECK_EQUAL(vp_table_begin(table_of(w, 0), 4, roots), 4);
    joint = join_two(w, 1, roots[0], roots[1]);
    vp_forest_ack_trees(w.forest, (uint64_t[]){roots[0], roots[1], roots[3]}, 3);
}

static uint32_t zombies(uint32_t table)
{
    uint32_t count = 0;
    for (uint32_t place = 0; place < table_of(w, table)->trees_touched; place++) {
        const vp_tree *at = vp_table_tree(table_of(w, table), place);
        count += at->zombie && vp_state_count(atomic_load(&at->state)) != VP_FREE;
    }
    return count;
}

/* All four are told of once, but for one that was told already; `dead` places were in the dead one's hands. */
static void check_all_told(uint64_t already, uint32_t dead)
{
    w.endings->length = 0;
    CHECK(vp_table_fail_all(table_of(w, 0), w.endings) >= 0);
    for (int j = 0; j < 4; j++) {
        uint32_t told = roots[j] == already;
        for (uint64_t i = 0; i < w.endings->length; i++)
            told += w.endings->trees[i] == roots[j];
        CHECK_EQUAL(told, 1);
        CHECK(!vp_forest_alive(w.forest, roots[j]));
    }
    CHECK_EQUAL(vp_table_open(table_of(w, 0)), 0);
    CHECK_NONE_TAKEN(w, 0);
    CHECK_EQUAL(places_left(w, 0) + zombies(0), TREES);
    CHECK_EQUAL(zombies(0) + zombies(1), dead);
}

/* -- a finisher dies */

static void finish_and_die(const char *where, uint32_t after, uint32_t dead)
{
    set_up();
    point = where;
    passes = after;
    if (!setjmp(death)) {
        at_point = die_there;
        ack_one(w, joint);
        CHECK(false); /* it came to the point */
    }
    vp_table_reset(table_of(w, 1));
    check_all_told(0, dead);
    CHECK_EQUAL(places_left(w, 1) + zombies(1), TREES);
    CHECK_EQUAL(links_left(w, 1), LINKS - 2 * zombies(1));
    fell(w);
}

static void test_a_finisher_dies(void)
{
    finish_and_die("finish: ended", 0, 1);       /* the joint, done and not listed */
    finish_and_die("finish: parent told", 0, 2); /* and one root */
    finish_and_die("finish: parent told", 1, 3);
    finish_and_die("push: linked", 0, 3);
    finish_and_die("push: pushed", 0, 2); /* only the roots */
    finish_and_die("finish: ended", 1, 2);
    finish_and_die("push: linked", 1, 2);
    finish_and_die("push: pushed", 1, 1);
    finish_and_die("push: linked", 2, 1);
    finish_and_die("push: pushed", 2, 0);
}

static void test_a_turn_is_not_told(void)
{
    set_up();
    point = "turn: not yet";
    passes = 1;
    if (!setjmp(death)) {
        at_point = die_there;
        vp_forest_hold(w.forest, joint);
        CHECK(false);
    }
    CHECK_EQUAL(expire(w, 0), 0);
    CHECK_EQUAL(expire(w, 0), 1); /* the parent that was told */
    check_all_told(w.endings->trees[0], 0);
    fell(w);
}

/* -- an owner dies */

static void test_a_maker_of_joints_dies(void)
{
    set_up();
    point = "join: added";
    passes = 1;
    if (!setjmp(death)) {
        at_point = die_there;
        join_two(w, 1, roots[0], roots[2]);
        CHECK(false);
    }
    vp_table_reset(table_of(w, 1)); /* the joint that it had fails its parents */
    CHECK(!vp_forest_alive(w.forest, roots[0]) && vp_forest_alive(w.forest, roots[2]));
    CHECK_EQUAL(links_left(w, 1), LINKS);
    CHECK_EQUAL(places_left(w, 1), TREES);
    check_all_told(0, 0);
    fell(w);
}

static void take_and_die(const char *where, uint32_t after, uint64_t open, bool another)
{
    set_up();
    vp_forest_fail(w.forest, roots[2], REASON); /* two on the list, two that live */
    point = where;
    passes = after;
    if (!setjmp(death)) {
        at_point = die_there;
        vp_table_take(table_of(w, 0), w.endings);
        CHECK(false);
    }
    if (another)
        vp_forest_fail(w.forest, joint, REASON); /* and its parents, pushed after the death */
    CHECK_EQUAL(vp_table_reset(table_of(w, 0)), open);
    CHECK_EQUAL(vp_table_open(table_of(w, 0)), 0);
    CHECK_EQUAL(places_left(w, 0), TREES);
    w.endings->length = 0;
    CHECK_NONE_TAKEN(w, 0);
    uint64_t again[TREES];
    CHECK_EQUAL(vp_table_begin(table_of(w, 0), TREES, again), TREES);
    for (int i = 0; i < TREES; i++)
        for (int j = 0; j < i; j++)
            CHECK(vp_tree_place(again[i]) != vp_tree_place(again[j]));
    fell(w);
}

static void test_an_owner_dies_while_it_takes(void)
{
    for (int another = 0; another < 2; another++) {
        take_and_die("take: noted", 0, 4, another);
        take_and_die("take: taken", 0, 4, another);
        take_and_die("take: free", 0, 3, another);
        take_and_die("take: taken", 1, 3, another);
        take_and_die("take: free", 1, 2, another);
    }
}

/* A dead owner leaves what it was in the middle of; others go on with what it had made. */
static void test_a_successor_goes_on(void)
{
    set_up();
    CHECK_EQUAL(vp_table_reset(table_of(w, 0)), 4);
    uint64_t fresh = begin_one(w, 0);
    ack_one(w, joint); /* its parents are no more */
    CHECK_NONE_TAKEN(w, 0);
    ack_one(w, fresh);
    CHECK_TAKEN(w, 0, 1, fresh, 0);
    CHECK_NONE_TAKEN(w, 1);
    CHECK_EQUAL(places_left(w, 1), TREES);
    fell(w);
}

/* -- nobody dies */

static void test_a_bolts_own_end_fails_younger_roots(void)
{
    set_up();
    vp_forest_incident(w.forest);
    CHECK_EQUAL(vp_table_fail_all(table_of(w, 0), w.endings), 1);
    CHECK_EQUAL(w.endings->length, 4);
    w.endings->length = 0;
    uint64_t young = begin_one(w, 0);
    join_two(w, 1, young, young);
    ack_one(w, young);
    CHECK_EQUAL(vp_table_fail_all(table_of(w, 1), w.endings), 0);
    CHECK_EQUAL(w.endings->length, 0);
    CHECK_TAKEN(w, 0, 1, young, VP_TREE_LOST);
    CHECK_EQUAL(places_left(w, 1), TREES);
    fell(w);
}

static void end_all(void)
{
    CHECK(vp_table_fail_all(table_of(w, 0), w.endings) >= 1);
    CHECK_EQUAL(w.endings->length, 4);
    CHECK_EQUAL(w.endings->trees[0], roots[3]);
    CHECK_EQUAL(vp_table_open(table_of(w, 0)), 0);
    uint64_t trees[TREES]; /* whatever is in the finisher's hands is not used again */
    CHECK(vp_table_begin(table_of(w, 0), TREES, trees) < TREES);
}

static void reset_all(void)
{
    CHECK_EQUAL(vp_table_reset(table_of(w, 0)), 4);
    uint64_t trees[TREES];
    CHECK(vp_table_begin(table_of(w, 0), TREES, trees) < TREES);
}

/* The owner ends all while a finisher, who is only slow, has trees in its hands. */
static void get_in_at(const char *where, uint32_t after, void (*what)(void))
{
    set_up();
    point = where;
    passes = after;
    meanwhile = what;
    at_point = get_in;
    ack_one(w, joint);
    CHECK(at_point == NULL); /* it came to the point */
    w.endings->length = 0;
    CHECK_NONE_TAKEN(w, 0); /* what turns up late is not told again */
    CHECK_EQUAL(vp_table_fail_all(table_of(w, 0), w.endings), 0);
    CHECK_EQUAL(zombies(0), 0);
    CHECK_EQUAL(places_left(w, 0), TREES);
    fell(w);
}

static void test_zombies_turn_up_late(void)
{
    void (*const ends[])(void) = {end_all, reset_all};
    for (int i = 0; i < 2; i++) {
        get_in_at("finish: parent told", 0, ends[i]);
        get_in_at("finish: parent told", 1, ends[i]);
        get_in_at("push: linked", 1, ends[i]);
        get_in_at("push: pushed", 1, ends[i]);
        get_in_at("push: linked", 2, ends[i]);
    }
}

/* The joint's owner looks for it, and makes another. */
static void join_another(void)
{
    CHECK_NONE_TAKEN(w, 1);
    join_two(w, 1, roots[2], roots[2]);
    join_two(w, 1, roots[2], roots[2]);
}

static void test_links_stand_still_till_all_parents_are_told(void)
{
    set_up();
    point = "finish: parent told";
    passes = 0;
    meanwhile = join_another;
    at_point = get_in;
    ack_one(w, joint);
    CHECK(at_point == NULL);
    CHECK(!vp_forest_alive(w.forest, roots[0]) && !vp_forest_alive(w.forest, roots[1]));
    CHECK_EQUAL(vp_state_count(atomic_load(&vp_tree_at(w.forest, roots[2])->state)), 3);
    fell(w);
}

static uint64_t successor;

/* The joint ends, is forgotten, and another has its place and its link. */
static void replace_joint(void)
{
    ack_one(w, joint);
    CHECK_NONE_TAKEN(w, 1);
    successor = join_two(w, 1, roots[1], roots[1]);
    CHECK_EQUAL(vp_tree_place(successor), vp_tree_place(joint));
}

static void test_a_turn_of_a_joint_that_is_no_more(void)
{
    w = plant_woods(2, 2, 1);
    CHECK_EQUAL(vp_table_begin(table_of(w, 0), 2, roots), 2);
    begin_one(w, 1); /* so that there is one place */
    joint = join_two(w, 1, roots[0], roots[0]);
    point = "turn: noted";
    passes = 0;
    meanwhile = replace_joint;
    at_point = get_in;
    vp_forest_hold(w.forest, joint);
    CHECK(at_point == NULL);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(vp_state_held(atomic_load(&vp_tree_at(w.forest, roots[i])->state)), 0);
    CHECK_EQUAL(vp_state_held(atomic_load(&vp_tree_at(w.forest, successor)->state)), 0);
    fell(w);
}

int main(void)
{
    test_a_finisher_dies();
    test_a_turn_is_not_told();
    test_a_maker_of_joints_dies();
    test_an_owner_dies_while_it_takes();
    test_a_successor_goes_on();
    test_a_bolts_own_end_fails_younger_roots();
    test_zombies_turn_up_late();
    test_links_stand_still_till_all_parents_are_told();
    test_a_turn_of_a_joint_that_is_no_more();
}
