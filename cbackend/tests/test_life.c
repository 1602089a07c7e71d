/* A life ends with the process that has begun it, however that dies, and another process can begin it again. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "viper/life.h"

static vp_life *life;

/* A process that has begun the life and sleeps; it has told so by a byte. */
static pid_t new_process(void)
{
    int told[2];
    char byte;
    CHECK(pipe(told) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        CHECK(vp_life_begin(life));
        CHECK_EQUAL(write(told[1], "", 1), 1);
        pause();
    }
    CHECK_EQUAL(read(told[0], &byte, 1), 1);
    CHECK(close(told[0]) == 0 && close(told[1]) == 0);
    return child;
}

static void *await_end(void *argument)
{
    CHECK(vp_life_await_end(life));
    return argument;
}

static void test_it_ends_with_its_process(void)
{
    for (int time = 0; time < 3; time++) {
        pid_t child = new_process();
        pthread_t waiting[2];
        for (int i = 0; i < 2; i++)
            CHECK(pthread_create(&waiting[i], NULL, await_end, NULL) == 0);
        CHECK(kill(child, SIGKILL) == 0);
        for (int i = 0; i < 2; i++)
            CHECK(pthread_join(waiting[i], NULL) == 0);
        CHECK_EQUAL(waitpid(child, NULL, 0), child);
    }
}

static void test_one_that_nobody_lives_has_ended(void)
{
    CHECK(vp_life_await_end(life));
}

int main(void)
{
    alarm(60);
    void *region = mmap(NULL, vp_life_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(region != MAP_FAILED);
    life = vp_life_format(region);
    CHECK(life);
    test_one_that_nobody_lives_has_ended();
    test_it_ends_with_its_process();
    test_one_that_nobody_lives_has_ended();
    return 0;
}
