/* Children of a test that die by SIGKILL at a named point of the sources; and memory that outlives them. */
#ifndef VIPER_DYING_H
#define VIPER_DYING_H

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "viper/arena.h"
#include "viper/segment.h"

static const char *fatal_point;
static _Atomic uint64_t passes_left;

static void die_there(const char *name)
{
    if (strcmp(name, fatal_point) == 0 && atomic_fetch_sub(&passes_left, 1) == 0) {
        kill(getpid(), SIGKILL);
        pause();
    }
}

/* From now on this process dies at a point that it has passed so often; NULL: at none. */
static void die_at(const char *point, uint64_t passes)
{
    fatal_point = point;
    passes_left = passes;
    at_point = point ? die_there : NULL;
}

/* Whether a child that ends has died; else it has come to its end. */
static inline bool has_died(pid_t child)
{
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

/* A new arena that children share. */
static inline vp_arena *shared_arena(uint64_t capacity)
{
    int segment = vp_segment_anonymous(vp_arena_segment_size(capacity));
    CHECK(segment >= 0);
    vp_arena *arena = vp_arena_format(segment, capacity);
    CHECK(arena && close(segment) == 0);
    return arena;
}

#endif
