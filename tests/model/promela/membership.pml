/* A source that joins a running gate at an event time, leaves it, and joins again in the same ring.
 *
 * Joining. A member invites: it chooses gamma, above all that it has published, prepares the ring with
 *          gamma as its progress, then publishes the ring's new generation; only then may its own
 *          progress or tuples reach gamma. A reader that sees any of these therefore sees the joiner in
 *          a later look at the members, which every refresh makes, last. From then on the joiner holds
 *          it back at gamma before it has spoken, as every source does at its bound.
 * Gamma    lies above the inviter's floor, not at it: readers may have passed what sources between the
 *          joiner and the inviter, in index, have at the floor itself. A reader begins at gamma, not at
 *          the progress it finds: tuples may lie below that which it has not looked at.
 * Leaving. The source promises END, behind its tuples. A reader that has taken these acknowledges; when
 *          all have, the ring may be given to the next joiner. Its numbers go on where they were.
 *
 * Checked: every reader receives every tuple once, in (ts, source) order; every run ends with all drained.
 */
#define SOURCES 3
#define JOINER 0 /* below the others: ties go to it */
#define MEMBER 1
#define INVITER 2
#ifndef READERS
#define READERS 1
#define SLOTS 1
#define TUPLES 1 /* of the inviter, and of the joiner each time */
#define LATEST 3
#define JOINS 2
#define OF_MEMBER 1
#endif
#include "ring.inc"

byte generation;            /* of the joiner's ring; 0: nobody was ever there */
byte gamma;                 /* where that generation begins */
byte acknowledged[READERS]; /* the generation that a reader has drained */

#ifdef PLANTED_MEMBERS_BEFORE_PROGRESS
#define LOOK_AT_MEMBERS_FIRST current = generation;
#define LOOK_AT_MEMBERS
#else
#define LOOK_AT_MEMBERS_FIRST
#define LOOK_AT_MEMBERS current = generation;
#endif
#define ADOPT_MEMBERS adopt_members();
#define MEMBERS_AT_FIRST \
    byte adopted, current; \
    d_step { bound[JOINER] = END; find_root() }

#if defined(PLANTED_JOINER_STEPPED_OVER)
#define BEGINNING (END - 1) /* until it speaks */
#elif defined(PLANTED_ADOPTED_AT_ITS_PROGRESS)
#define BEGINNING ring[JOINER].progress
#else
#define BEGINNING gamma
#endif
inline adopt_members() {
    if
    :: current != adopted -> adopted = current; bound[JOINER] = BEGINNING; news = true
    :: current == adopted && bound[JOINER] == END -> acknowledged[me] = adopted
    :: else
    fi;
    current = 0
}

#include "source.inc"
#include "reader.inc"

proctype member() {
    byte me = MEMBER, floor = LEAST + 1;
    do
    :: ring[me].tail < OF_MEMBER -> add()
    :: ring[me].progress = END -> break
    od
}

proctype joiner() {
    byte me = JOINER, joined, floor;
end:
    do
    :: joined < generation ->
        joined++;
        floor = gamma;
        do
        :: ring[me].tail < TUPLES * joined -> add()
        :: floor < LATEST -> promise()
        :: ring[me].progress = END -> break
        od
    od
}

/* The last ring's readers have all drained the generation before. */
#ifdef PLANTED_RING_REUSED_TOO_EARLY
#define RING_IS_FREE (ring[JOINER].progress == END || generation == 0)
#else
#define RING_IS_FREE (acknowledged[0] == generation && acknowledged[READERS - 1] == generation)
#endif

inline invite() {
#ifdef PLANTED_GAMMA_AT_THE_FLOOR
    gamma = floor;
#else
    gamma = floor + 1;
#endif
    ring[JOINER].progress = gamma;
#ifdef PLANTED_INVITED_TOO_LATE
    floor = gamma;
    ring[me].progress = floor;
#endif
    generation++
}

proctype inviter() {
    byte me = INVITER, floor = LEAST + 1;
    do
    :: ring[me].tail < TUPLES -> add()
    :: floor < LATEST -> promise()
    :: floor < LATEST && generation < JOINS && RING_IS_FREE -> invite()
    :: ring[me].progress = END -> break
    od
}

init {
    atomic {
        byte i;
        run member();
        run joiner();
        run inviter();
        for (i : 0 .. READERS - 1) { run reader(i) }
    }
}
