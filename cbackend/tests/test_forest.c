/* Trees of tracked tuples on one thread: what counts, what ends a tree, joints, holding, sweeps and places. */
#include "forest_check.h"

enum { REASON = 7 };

static void test_nothing_is_touched_by_formatting(void)
{
    woods w = plant_woods(2, 100, 100);
    static const char zeros[100 * sizeof(vp_tree)];
    for (uint32_t table = 0; table < 2; table++) {
        CHECK(memcmp(vp_tree_at(w.forest, vp_tree_id(0, table, 0)), zeros, 100 * sizeof(vp_tree)) == 0);
        CHECK(memcmp(vp_link_at(w.forest, table, 1), zeros, 100 * sizeof(vp_link)) == 0);
        CHECK_EQUAL(vp_table_forest(table_of(w, table)) == w.forest, true);
    }
    CHECK(vp_forest_at(w.arena, w.forest->at) == w.forest);
    CHECK(vp_forest_at(w.arena, w.forest->at + VP_LINE) == NULL);
    w.forest->tree_count++; /* it would reach beyond what was allocated */
    CHECK(vp_forest_at(w.arena, w.forest->at) == NULL);
    fell(w);
}

static void test_ids(void)
{
    uint64_t tree = vp_tree_id(VP_GENERATIONS, 65535, (1u << 22) - 1);
    CHECK_EQUAL(vp_tree_generation(tree), VP_GENERATIONS);
    CHECK_EQUAL(vp_tree_table(tree), 65535);
    CHECK_EQUAL(vp_tree_place(tree), (1 << 22) - 1);
    uint64_t state = vp_state(VP_GENERATIONS, VP_MOST, UINT32_MAX); /* held is -1 */
    CHECK_EQUAL(vp_state_generation(state), VP_GENERATIONS);
    CHECK_EQUAL(vp_state_count(state), VP_MOST);
    CHECK_EQUAL(vp_state_held(state), VP_COUNT_MASK);
}

static void test_a_count_falls_to_zero_once(void)
{
    woods w = plant_woods(2, 10, 0);
    uint64_t a = begin_one(w, 0), b = begin_one(w, 0), other = begin_one(w, 1);
    vp_position data[] = {{0, 0, 0, a}, {1, 0, 0, a}, {2, 0, 0, 0}, {3, 0, 0, b}, {4, 0, 0, other}, {5, 0, 0, a}};
    vp_positions positions = {.data = data, .length = 6, .capacity = 6};
    CHECK(!vp_forest_add(w.forest, &positions, 6, 1, 1));
    CHECK(!vp_forest_ack(w.forest, &positions, 0, 7));
    CHECK(vp_forest_add(w.forest, &positions, 0, 6, 2));
    vp_forest_ack_trees(w.forest, (uint64_t[]){a, 0, b, other}, 4);
    CHECK(vp_forest_ack(w.forest, &positions, 0, 6));
    CHECK(!vp_table_has_done(table_of(w, 0)));
    CHECK(vp_forest_ack(w.forest, &positions, 1, 5)); /* all but one of a */
    CHECK(vp_table_has_done(table_of(w, 0)) && vp_forest_alive(w.forest, a) && !vp_forest_alive(w.forest, b));
    ack_one(w, a);
    CHECK_EQUAL(vp_table_open(table_of(w, 0)), 2);
    CHECK_TAKEN(w, 0, 2, b, 0, a, 0);
    CHECK_TAKEN(w, 1, 1, other, 0);
    CHECK_EQUAL(vp_table_open(table_of(w, 0)), 0);
    CHECK_NONE_TAKEN(w, 0);
    fell(w);
}

static void test_a_tree_fails_once(void)
{
    woods w = plant_woods(1, 10, 0);
    uint64_t a = begin_one(w, 0), b = begin_one(w, 0);
    add_to(w, a, 5);
    CHECK(vp_forest_fail(w.forest, a, REASON));
    CHECK(!vp_forest_fail(w.forest, a, REASON + 1));
    for (int i = 0; i < 6; i++)
        ack_one(w, a);
    ack_one(w, b);
    CHECK(!vp_forest_fail(w.forest, b, REASON));
    CHECK_TAKEN(w, 0, 2, a, REASON, b, 0);
    CHECK_NONE_TAKEN(w, 0);
    fell(w);
}

static void test_other_generations_and_places_that_never_were(void)
{
    woods w = plant_woods(2, 1, 1);
    uint64_t a = begin_one(w, 0);
    ack_one(w, a);
    CHECK_TAKEN(w, 0, 1, a, 0);
    uint64_t b = begin_one(w, 0);
    CHECK(b != a);
    CHECK_EQUAL(vp_tree_place(b), vp_tree_place(a));
    uint64_t none[] = {0, a, vp_tree_id(1, 1, 0), vp_tree_id(1, 2, 0), vp_tree_id(1, 0, 1), vp_tree_id(0, 0, 0)};
    for (int i = 0; i < 6; i++) {
        CHECK(!vp_forest_alive(w.forest, none[i]) && !vp_forest_fail(w.forest, none[i], REASON));
        add_to(w, none[i], 1);
        ack_one(w, none[i]);
        ack_one(w, none[i]);
        vp_forest_hold(w.forest, none[i]);
    }
    CHECK_EQUAL(vp_state_count(atomic_load(&vp_tree_at(w.forest, b)->state)), 1);
    CHECK_EQUAL(vp_state_held(atomic_load(&vp_tree_at(w.forest, b)->state)), 0);
    CHECK(vp_forest_alive(w.forest, b));
    fell(w);
}

static void test_more_than_can_be_counted(void)
{
    woods w = plant_woods(1, 2, 0);
    uint64_t a = begin_one(w, 0), b = begin_one(w, 0);
    add_to(w, a, VP_MOST - 1);
    CHECK(vp_forest_alive(w.forest, a));
    add_to(w, a, 1);
    add_to(w, b, UINT32_MAX);
    CHECK_TAKEN(w, 0, 2, a, VP_TREE_TOO_LARGE, b, VP_TREE_TOO_LARGE);
    fell(w);
}

static void test_bells(void)
{
    woods w = plant_woods(2, 10, 0);
    uint64_t offset = vp_arena_allocate(w.arena, vp_bell_size());
    vp_bell *bell = vp_arena_at(w.arena, offset);
    vp_forest_set_bell(w.forest, 0, offset);
    uint64_t trees[3], other = begin_one(w, 1);
    CHECK_EQUAL(vp_table_begin(table_of(w, 0), 3, trees), 3);
    uint32_t ticket = vp_bell_ticket(bell);
    ack_one(w, other);
    CHECK_EQUAL(vp_bell_ticket(bell) - ticket, 0);
    vp_forest_ack_trees(w.forest, trees, 2);
    CHECK_EQUAL(vp_bell_ticket(bell) - ticket, 1); /* the second found the list not empty */
    CHECK_TAKEN(w, 0, 2, trees[0], 0, trees[1], 0);
    vp_forest_fail(w.forest, trees[2], REASON);
    CHECK_EQUAL(vp_bell_ticket(bell) - ticket, 2);
    vp_forest_incident(w.forest);
    CHECK_EQUAL(vp_bell_ticket(bell) - ticket, 3);
    CHECK_EQUAL(vp_forest_incidents(w.forest), 1);
    fell(w);
}

/* -- joints */

static void test_a_joint_acks_each_of_its_parents_once(void)
{
    woods w = plant_woods(2, 10, 10);
    uint64_t a = begin_one(w, 0), b = begin_one(w, 0), dead = begin_one(w, 0);
    vp_forest_fail(w.forest, dead, REASON);
    uint64_t parents[] = {b, a, 0, b, dead, a, b};
    uint64_t joint = (uint64_t)vp_table_join(table_of(w, 1), parents, 7);
    CHECK_EQUAL(links_left(w, 1), 8);
    add_to(w, joint, 2);
    vp_forest_ack_trees(w.forest, (uint64_t[]){joint, a, b, joint}, 4);
    CHECK(vp_forest_alive(w.forest, a) && vp_forest_alive(w.forest, b));
    ack_one(w, joint);
    CHECK_TAKEN(w, 0, 3, dead, REASON, a, 0, b, 0);
    CHECK_NONE_TAKEN(w, 1); /* nobody waits for a joint */
    CHECK_EQUAL(places_left(w, 1), 10);
    CHECK_EQUAL(links_left(w, 1), 10);
    fell(w);
}

static void test_a_joint_fails_its_parents(void)
{
    woods w = plant_woods(2, 10, 10);
    uint64_t a = begin_one(w, 0), b = begin_one(w, 0), c = begin_one(w, 0);
    uint64_t inner = join_two(w, 1, a, b), outer = join_two(w, 1, inner, c);
    CHECK(vp_forest_fail(w.forest, a, REASON + 1)); /* one root's end is nothing to the other */
    CHECK(vp_forest_alive(w.forest, inner));
    CHECK(vp_forest_fail(w.forest, outer, REASON));
    CHECK(!vp_forest_alive(w.forest, inner));
    CHECK_EQUAL(vp_table_take(table_of(w, 0), w.endings), 3);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(w.endings->reasons[i], w.endings->trees[i] == a ? REASON + 1 : REASON);
    fell(w);
}

static void test_no_joint(void)
{
    woods w = plant_woods(2, 2, 3);
    uint64_t a = begin_one(w, 0), b = begin_one(w, 0), parents[] = {a, b};
    CHECK_EQUAL(vp_table_join(table_of(w, 1), NULL, 0), 0);
    uint64_t joint = join_two(w, 1, a, b);
    CHECK_EQUAL(vp_table_join(table_of(w, 1), parents, 2), VP_FOREST_FULL); /* links */
    CHECK_EQUAL(links_left(w, 1), 1);
    uint64_t second = (uint64_t)vp_table_join(table_of(w, 1), parents, 1);
    ack_one(w, joint);
    CHECK_NONE_TAKEN(w, 1);
    ack_one(w, second);
    CHECK_NONE_TAKEN(w, 1);
    vp_forest_ack_trees(w.forest, parents, 2);
    CHECK_EQUAL(vp_table_take(table_of(w, 0), w.endings), 2); /* what was refused has left nothing behind */
    CHECK_EQUAL(vp_table_join(table_of(w, 1), parents, 2), 0);
    fell(w);
}

static void test_joints_that_nobody_needs_make_room(void)
{
    woods w = plant_woods(2, 2, 4);
    uint64_t a = begin_one(w, 0), b = begin_one(w, 0);
    uint64_t of_a = join_two(w, 1, a, a), of_both = join_two(w, 1, a, b);
    vp_forest_fail(w.forest, a, REASON);
    uint64_t fresh = join_two(w, 1, b, b);
    CHECK(!vp_forest_alive(w.forest, of_a) && vp_forest_alive(w.forest, of_both) && vp_forest_alive(w.forest, fresh));
    vp_forest_fail(w.forest, b, REASON);
    CHECK_EQUAL(expire(w, 1), 0);
    CHECK_EQUAL(places_left(w, 1), 2);
    CHECK_EQUAL(links_left(w, 1), 4);
    fell(w);
}

/* Joints of joints, each of the one before and of the root itself. */
static uint64_t chain(woods w, uint64_t root, uint32_t length)
{
    uint64_t last = root;
    for (uint32_t i = 0; i < length; i++) {
        uint64_t next = join_two(w, 1, last, root);
        ack_one(w, last); /* held open by the next alone */
        last = next;
    }
    return last;
}

static void test_long_chains_do_not_recurse(void)
{
    enum { LONG = 300000 };
    woods w = plant_woods(2, LONG, 2 * LONG);
    uint64_t root = begin_one(w, 0), last = chain(w, root, LONG);
    vp_forest_hold(w.forest, last);
    CHECK_EQUAL(expire(w, 0), 0);
    vp_forest_unhold(w.forest, last);
    vp_forest_hold(w.forest, last);
    CHECK_EQUAL(expire(w, 0), 0); /* it moved */
    vp_forest_answer_held(w.forest, last);
    CHECK_TAKEN(w, 0, 1, root, 0);
    CHECK_NONE_TAKEN(w, 1);
    root = begin_one(w, 0);
    last = chain(w, root, LONG);
    vp_forest_hold(w.forest, last);
    CHECK_EQUAL(expire(w, 0), 0);
    CHECK_EQUAL(expire(w, 0), 1);
    root = begin_one(w, 0);
    CHECK_EQUAL(expire(w, 1), 0);
    for (uint32_t i = 0; i < LONG; i++) /* each sweep frees those whose parents have gone */
        if (places_left(w, 1) == LONG)
            break;
        else
            CHECK_EQUAL(expire(w, 1), 0);
    last = chain(w, root, LONG);
    CHECK(vp_forest_fail(w.forest, last, REASON));
    CHECK_TAKEN(w, 0, 1, root, REASON);
    fell(w);
}

/* A joint of so many parents that what they have to be told does not fit on the stack. */
static void test_many_parents(void)
{
    enum { MANY = 1000 };
    woods w = plant_woods(2, MANY, MANY);
    uint64_t roots[MANY];
    CHECK_EQUAL(vp_table_begin(table_of(w, 0), MANY, roots), MANY);
    uint64_t joint = (uint64_t)vp_table_join(table_of(w, 1), roots, MANY);
    vp_forest_ack_trees(w.forest, roots, MANY);
    vp_forest_hold(w.forest, joint);
    CHECK_EQUAL(expire(w, 0), 0);
    CHECK_EQUAL(expire(w, 0), MANY);
    CHECK_EQUAL(vp_forest_incidents(w.forest), 0);
    fell(w);
}

/* -- sweeps */

static void test_only_who_is_stalled_expires(void)
{
    woods w = plant_woods(1, 10, 0);
    uint64_t held = begin_one(w, 0), half = begin_one(w, 0), idle = begin_one(w, 0);
    add_to(w, half, 1);
    vp_forest_hold(w.forest, held);
    vp_forest_hold(w.forest, half);
    CHECK_EQUAL(expire(w, 0), 0);
    CHECK_EQUAL(expire(w, 0), 1);
    CHECK_EQUAL(w.endings->trees[0], held);
    CHECK(!vp_forest_alive(w.forest, held) && vp_forest_alive(w.forest, half) && vp_forest_alive(w.forest, idle));
    vp_forest_answer_held(w.forest, held); /* too late */
    vp_forest_answer_held(w.forest, half);
    ack_one(w, half);
    ack_one(w, idle);
    CHECK_TAKEN(w, 0, 2, half, 0, idle, 0);
    fell(w);
}

static void test_who_moved_has_its_time_again(void)
{
    woods w = plant_woods(1, 10, 0);
    uint64_t tree = begin_one(w, 0);
    for (int i = 0; i < 5; i++) {
        vp_forest_hold(w.forest, tree);
        CHECK_EQUAL(expire(w, 0), 0);
        add_to(w, tree, 1); /* emitted for it, then answered; and the next task holds that */
        vp_forest_answer_held(w.forest, tree);
    }
    vp_forest_hold(w.forest, tree);
    CHECK_EQUAL(expire(w, 0), 0);
    CHECK_EQUAL(expire(w, 0), 1);
    fell(w);
}

static void test_held_does_not_borrow_from_the_count(void)
{
    woods w = plant_woods(1, 10, 0);
    uint64_t tree = begin_one(w, 0);
    add_to(w, tree, 2);
    vp_forest_unhold(w.forest, tree); /* the words of two turns, the wrong way round */
    CHECK_EQUAL(vp_state_count(atomic_load(&vp_tree_at(w.forest, tree)->state)), 3);
    vp_forest_hold(w.forest, tree);
    CHECK_EQUAL(vp_state_count(atomic_load(&vp_tree_at(w.forest, tree)->state)), 3);
    for (int i = 0; i < 3; i++)
        vp_forest_hold(w.forest, tree);
    CHECK_EQUAL(expire(w, 0), 0);
    CHECK_EQUAL(expire(w, 0), 1);
    fell(w);
}

static void test_a_stalled_joint_stalls_its_parents(void)
{
    woods w = plant_woods(2, 10, 10);
    uint64_t a = begin_one(w, 0), b = begin_one(w, 0), inner = join_two(w, 1, a, b), outer = join_two(w, 1, inner, b);
    vp_forest_ack_trees(w.forest, (uint64_t[]){a, inner}, 2);
    vp_forest_hold(w.forest, outer);
    CHECK_EQUAL(expire(w, 0), 0);
    CHECK_EQUAL(expire(w, 0), 1); /* b has a tuple of its own that nobody holds */
    CHECK_EQUAL(w.endings->trees[0], a);
    vp_forest_hold(w.forest, b);
    CHECK_EQUAL(expire(w, 0), 0);
    add_to(w, outer, 1); /* it goes on */
    CHECK_EQUAL(expire(w, 0), 0);
    CHECK_EQUAL(expire(w, 0), 0);
    vp_forest_answer_held(w.forest, outer);
    ack_one(w, outer);
    vp_forest_answer_held(w.forest, b);
    CHECK_TAKEN(w, 0, 1, b, 0);
    fell(w);
}

/* -- places */

static void test_places_are_used_again_late(void)
{
    enum { ENOUGH = 1024 };
    woods w = plant_woods(1, 3000, 0);
    uint64_t trees[ENOUGH];
    for (uint32_t i = 0; i < 2 * ENOUGH; i++) {
        uint64_t tree = begin_one(w, 0);
        CHECK_EQUAL(vp_tree_place(tree), i % ENOUGH);
        CHECK_EQUAL(vp_tree_generation(tree), 1 + i / ENOUGH);
        ack_one(w, tree);
        CHECK_TAKEN(w, 0, 1, tree, 0);
    }
    uint64_t all[3000];
    CHECK_EQUAL(vp_table_begin(table_of(w, 0), 2990, all), 2990);
    CHECK_EQUAL(vp_table_begin(table_of(w, 0), ENOUGH, trees), 10);
    CHECK_EQUAL(vp_table_begin(table_of(w, 0), 1, trees), 0);
    CHECK_EQUAL(vp_table_open(table_of(w, 0)), 3000);
    fell(w);
}

static void test_generations_go_round(void)
{
    woods w = plant_woods(1, 1, 0);
    atomic_store(&vp_tree_at(w.forest, 0)->state, vp_state(VP_GENERATIONS, VP_FREE, 0));
    CHECK_EQUAL(vp_tree_generation(begin_one(w, 0)), 1);
    fell(w);
}

int main(void)
{
    test_nothing_is_touched_by_formatting();
    test_ids();
    test_a_count_falls_to_zero_once();
    test_a_tree_fails_once();
    test_other_generations_and_places_that_never_were();
    test_more_than_can_be_counted();
    test_bells();
    test_a_joint_acks_each_of_its_parents_once();
    test_a_joint_fails_its_parents();
    test_no_joint();
    test_joints_that_nobody_needs_make_room();
    test_long_chains_do_not_recurse();
    test_many_parents();
    test_only_who_is_stalled_expires();
    test_who_moved_has_its_time_again();
    test_held_does_not_borrow_from_the_count();
    test_a_stalled_joint_stalls_its_parents();
    test_places_are_used_again_late();
    test_generations_go_round();
}
