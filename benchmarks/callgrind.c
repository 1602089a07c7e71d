/* Requests that a program makes of Callgrind, under which it runs: compiled and called by `benchmarks.instructed`. */
#include <valgrind/callgrind.h>

void begin_counting(void);
void end_counting(const char *name);

/* Count the instructions of all threads, from here on. */
void begin_counting(void)
{
    CALLGRIND_START_INSTRUMENTATION;
}

/* Count no more, and write what has been counted into a file, in which the name stands. */
void end_counting(const char *name)
{
    CALLGRIND_STOP_INSTRUMENTATION;
    CALLGRIND_DUMP_STATS_AT(name);
}
