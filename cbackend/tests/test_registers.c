/* Registers on one thread, and between two. */
#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>

#include "check.h"
#include "layout.h"
#include "viper/registers.h"

enum { ROUNDS = 20000 };

static alignas(VP_LINE) char region[4 * VP_LINE];
static pthread_barrier_t barrier;

static vp_registers *fresh(uint32_t count)
{
    CHECK(vp_registers_size(count) <= sizeof region);
    return vp_registers_format(region, count);
}

static void test_each_holds_what_was_written_last(void)
{
    vp_registers *registers = fresh(3);
    CHECK_EQUAL(vp_register_read(registers, 2), 0);
    vp_register_write(registers, 0, -5);
    vp_register_write(registers, 2, INT64_MAX);
    vp_register_write(registers, 2, 7);
    CHECK_EQUAL(vp_register_read(registers, 0), -5);
    CHECK_EQUAL(vp_register_read(registers, 1), 0);
    CHECK_EQUAL(vp_register_read(registers, 2), 7);
}

static int64_t told;

static void *tell(void *argument)
{
    told = 12;
    vp_register_write(argument, 0, 1);
    return NULL;
}

static void test_what_was_done_before_is_seen(void)
{
    pthread_t thread;
    vp_registers *registers = fresh(1);
    CHECK(pthread_create(&thread, NULL, tell, registers) == 0);
    while (!vp_register_read(registers, 0))
        ;
    CHECK_EQUAL(told, 12);
    CHECK(pthread_join(thread, NULL) == 0);
}

static int64_t saw[2];

static void *write_and_look(void *argument)
{
    int me = (int)(intptr_t)argument;
    for (int round = 1; round <= ROUNDS; round++) {
        pthread_barrier_wait(&barrier);
        vp_register_write((vp_registers *)region, me, round);
        saw[me] = vp_register_read((vp_registers *)region, !me);
        pthread_barrier_wait(&barrier);
        CHECK(saw[0] == round || saw[1] == round);
    }
    return NULL;
}

static void test_one_of_two_sees_the_other(void)
{
    pthread_t threads[2];
    fresh(2);
    CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
    for (intptr_t i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, write_and_look, (void *)i) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    pthread_barrier_destroy(&barrier);
}

int main(void)
{
    test_each_holds_what_was_written_last();
    test_what_was_done_before_is_seen();
    test_one_of_two_sees_the_other();
}
