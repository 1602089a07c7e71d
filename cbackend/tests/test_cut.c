/* A cut on one thread, and among several. */
#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>

#include "check.h"
#include "layout.h"
#include "viper/cut.h"

enum { THREADS = 4, ROUNDS = 2000 };

static alignas(VP_LINE) char region[4 * VP_LINE];

static vp_cut *fresh(uint32_t members)
{
    CHECK(vp_cut_size(members) <= sizeof region);
    return vp_cut_format(region, members);
}

static void test_the_latest_word_when_all_have_spoken(void)
{
    static const int64_t said[] = {-5, 70, 12};
    int64_t time = 1;
    vp_cut *cut = fresh(3);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK(!vp_cut_agreed(cut, &time));
        vp_cut_say(cut, i, said[i]);
    }
    CHECK_EQUAL(time, 1);
    CHECK(vp_cut_agreed(cut, &time));
    CHECK_EQUAL(time, 70);
}

/* A successor would not know how far the others have gone on by the first word. */
static void test_only_the_first_word_counts(void)
{
    int64_t time;
    vp_cut *cut = fresh(2);
    vp_cut_say(cut, 0, 10);
    vp_cut_say(cut, 1, 20);
    vp_cut_say(cut, 0, 30);
    vp_cut_say(cut, 1, 5);
    CHECK(vp_cut_agreed(cut, &time));
    CHECK_EQUAL(time, 20);
}

static void test_the_least_time_is_a_word_too(void)
{
    int64_t time;
    vp_cut *cut = fresh(1);
    vp_cut_say(cut, 0, INT64_MIN);
    CHECK(vp_cut_agreed(cut, &time));
    CHECK_EQUAL(time, INT64_MIN + 1);
}

static void test_without_members_there_is_nothing_to_wait_for(void)
{
    int64_t time;
    CHECK(vp_cut_agreed(fresh(0), &time));
}

typedef struct {
    uint32_t member;
    int64_t says, found;
} speaker;

static void *speak(void *argument)
{
    speaker *self = argument;
    vp_cut_say((vp_cut *)region, self->member, self->says);
    while (!vp_cut_agreed((vp_cut *)region, &self->found))
        ;
    return NULL;
}

static void test_all_find_the_same(void)
{
    unsigned seed = 7;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        speaker speakers[THREADS];
        int64_t latest = INT64_MIN;
        fresh(THREADS);
        for (uint32_t i = 0; i < THREADS; i++) {
            speakers[i] = (speaker){i, rand_r(&seed) % 1000, 0};
            latest = speakers[i].says > latest ? speakers[i].says : latest;
        }
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_create(&threads[i], NULL, speak, &speakers[i]) == 0);
        for (int i = 0; i < THREADS; i++) {
            CHECK(pthread_join(threads[i], NULL) == 0);
            CHECK_EQUAL(speakers[i].found, latest);
        }
    }
}

int main(void)
{
    test_the_latest_word_when_all_have_spoken();
    test_only_the_first_word_counts();
    test_the_least_time_is_a_word_too();
    test_without_members_there_is_nothing_to_wait_for();
    test_all_find_the_same();
}
