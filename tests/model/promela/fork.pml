/* One task that feeds two rings of the same reader: a fork and its join, with bounded rings.
 *
 * Its tuples go to either branch, in timestamp order, through a buffer per branch that is flushed when
 * the next tuple needs it. A full branch must not keep the other one from the reader, which may wait
 * there before it makes room here: for as long as the task waits it flushes the other branch whenever
 * that has room, and promises what it cannot flush.
 *
 * Checked: the join receives every tuple in order, and every run ends.
 */
#define SOURCES 2 /* the branches */
#define READERS 1
#ifndef SLOTS
#define SLOTS 1
#define TUPLES 4
#endif
#include "ring.inc"
#include "reader.inc"

byte buffered[SOURCES]; /* timestamp of the tuple that waits to be flushed; LEAST: none */

/* The smallest timestamp that the branch may still carry: that of its buffer, or of the next tuple. */
#define FLOOR(branch_) (buffered[branch_] != LEAST -> buffered[branch_] : ts)

inline flush(branch_) {
    publish(branch_, buffered[branch_]);
    buffered[branch_] = LEAST
}

/* Until the buffer of `branch` is empty, and meanwhile for the other branch what can be done. */
inline flush_or_wait() {
    do
    :: buffered[branch] == LEAST -> break
    :: buffered[branch] != LEAST && ROOM(branch) -> flush(branch); break
#ifndef PLANTED_NO_FLUSH_BEFORE_WAIT
    :: !ROOM(branch) && buffered[1 - branch] != LEAST && ROOM(1 - branch) -> flush(1 - branch)
#endif
#ifndef PLANTED_NO_PROMISE_BEFORE_WAIT
    :: d_step {
           !ROOM(branch) && ring[1 - branch].progress < FLOOR(1 - branch) ->
           ring[1 - branch].progress = FLOOR(1 - branch)
       }
#endif
    od
}

proctype task() {
    byte ts = LEAST + 1, branch;
    do
    :: ts <= TUPLES ->
        if
        :: branch = 0
        :: branch = 1
        fi;
        flush_or_wait();
        buffered[branch] = ts;
        ts++
    :: else -> break
    od;
    for (branch : 0 .. SOURCES - 1) {
        flush_or_wait();
    }
    ring[0].progress = END;
    ring[1].progress = END
}

init {
    atomic {
        run task();
        run reader(0)
    }
}
