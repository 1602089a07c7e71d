/* Threads that claim key groups, and change what belongs to a group without any other order among them. */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "check.h"
#include "viper/keyclaims.h"

enum { READERS = 3, GROUPS = 8, ALL = 30000, WINDOW = 5 };

static vp_keyclaims *claims;
static uint16_t group_of[ALL];
static uint64_t counts[GROUPS], last[GROUPS]; /* of the owner of the group */

static pthread_barrier_t barrier;

static void *go_through_all(void *argument)
{
    uint32_t me = (uint32_t)(uintptr_t)argument;
    uint16_t mine[WINDOW];
    vp_keyclaimant *claimant = vp_keyclaimant_new(claims, me, 0);
    CHECK(claimant);
    pthread_barrier_wait(&barrier);
    for (uint64_t number = 0; number < ALL;) {
        uint64_t count = ALL - number < WINDOW ? ALL - number : WINDOW;
        vp_keyclaimant_take(claimant, number, group_of + number, 2, &count, mine);
        for (uint64_t i = 0; i < count; i++)
            if (mine[i]) {
                uint16_t group = group_of[number + i];
                CHECK(last[group] <= number + i);
                last[group] = number + i + 1;
                counts[group]++;
            }
        number += count;
        vp_keyclaimant_release(claimant, number);
        sched_yield(); /* or one of them may do all of it */
    }
    vp_keyclaimant_free(claimant);
    return NULL;
}

int main(void)
{
    static alignas(VP_LINE) char region[2048];
    pthread_t threads[READERS];
    uint64_t draws = 7, expected[GROUPS] = {0};
    CHECK(vp_keyclaims_size(GROUPS, READERS) <= sizeof region);
    claims = vp_keyclaims_format(region, GROUPS, READERS);
    for (int number = 0; number < ALL; number++)
        expected[group_of[number] = (uint16_t)random_below(&draws, GROUPS)]++;
    CHECK(pthread_barrier_init(&barrier, NULL, READERS) == 0);
    for (uintptr_t i = 0; i < READERS; i++)
        CHECK(pthread_create(&threads[i], NULL, go_through_all, (void *)i) == 0);
    for (int i = 0; i < READERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    pthread_barrier_destroy(&barrier);
    for (int group = 0; group < GROUPS; group++)
        CHECK_EQUAL(counts[group], expected[group]);
    return 0;
}
