/* Readers of one gate, whatever its sources do: add, promise, start late, say nothing, close.
 *
 * Checked: every reader receives every tuple once, in (ts, source) order; what it holds is not touched;
 * and every run ends with all drained, wherever the sources close.
 */
#ifndef SOURCES
#define SOURCES 2
#define READERS 2
#define SLOTS 1
#define TUPLES 2
#define LATEST 2
#endif
#include "ring.inc"
#include "source.inc"
#include "reader.inc"

proctype source(byte me) {
    byte floor = LEAST + 1;
    do
    :: ring[me].tail < TUPLES -> add()
    :: floor < LATEST -> promise()
    :: ring[me].progress = END -> break
    od
}

init {
    atomic {
        byte i;
        for (i : 0 .. SOURCES - 1) { run source(i) }
        for (i : 0 .. READERS - 1) { run reader(i) }
    }
}
