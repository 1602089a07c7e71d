/* A reader that joins a running gate, leaves it in the middle, and joins again.
 *
 * Joining. A reader invites: it copies its private place to the joiner, stores the joiner's heads, where
 *          it stands itself, then lets it in, and only then goes on. So what comes next for the
 *          inviter comes next for the joiner, and its slots are the inviter's until they are both's.
 * Room.    A source looks at the heads of those it knows, then at who is in. Somebody who came in
 *          between stands where one of these heads was, or further: one that it saw before that reader
 *          let it in. Looked at in the other order, the inviter's head may lie behind the joiner's back.
 * Leaving. The reader gives back what it has taken, then goes out; sources no longer wait for it.
 *
 * Checked: nobody writes into a slot that is needed; both receive the same, in order; every run ends.
 */
#define SOURCES 2
#define READERS 2
#define INVITER 0
#define JOINER 1
#ifndef SLOTS
#define SLOTS 1
#define TUPLES 2
#define LATEST 1
#define JOINS 2
#endif

bool in_gate; /* the joiner */
#define LEFT_BY_JOINER(source_, number_) (!in_gate || LEFT_BY(JOINER, source_, number_))
#define ALL_LEAVE(source_, number_) (LEFT_BY(INVITER, source_, number_) && LEFT_BY_JOINER(source_, number_))
#define ROOM(source_) ALL_LEAVE(source_, ring[source_].tail)
#include "ring.inc"
#include "source.inc"
#include "merging.inc"

typedef place { byte cursor[SOURCES], published[SOURCES], bound[SOURCES], root, last_ts, last_source };
place handed_over;

inline look_for_room() {
    do
    :: true ->
#ifdef PLANTED_READERS_BEFORE_HEADS
        joiner_in = in_gate;
        head = ring[me].head[INVITER];
#else
        head = ring[me].head[INVITER];
        joiner_in = in_gate;
#endif
        if
        :: ring[me].tail - head < SLOTS && (!joiner_in || LEFT_BY(JOINER, me, ring[me].tail)) -> break
        :: else -> ROOM(me) /* sleeps until there is */
        fi
    od;
    head = 0;
    joiner_in = false
}

proctype source(byte me) {
    byte floor = LEAST + 1, head;
    bool joiner_in;
    do
    :: ring[me].tail < TUPLES ->
        look_for_room();
        if
        :: skip
        :: floor < LATEST -> floor++
        fi;
        publish(me, floor)
    :: ring[me].progress = END -> break
    od
}

inline hand_over() {
    for (other : 0 .. SOURCES - 1) {
        handed_over.cursor[other] = cursor[other];
        handed_over.published[other] = published[other];
        handed_over.bound[other] = bound[other]
    }
    other = 0;
    handed_over.root = root;
    handed_over.last_ts = last_ts;
    handed_over.last_source = last_source
}

inline take_over() {
    for (other : 0 .. SOURCES - 1) {
        cursor[other] = handed_over.cursor[other];
        published[other] = handed_over.published[other];
        bound[other] = handed_over.bound[other]
    }
    other = 0;
    root = handed_over.root;
    last_ts = handed_over.last_ts;
    last_source = handed_over.last_source
}

/* A source looks at one head only, its ring's, so these two may be stored at once. */
inline invite() {
    d_step {
        ring[0].head[JOINER] = cursor[0];
        ring[1].head[JOINER] = cursor[1];
        hand_over()
    };
#ifdef PLANTED_GOES_ON_BEFORE_IT_LETS_IN
    if
    :: d_step { HAS_TUPLE -> deliver(); release(); held = false }
    :: else
    fi;
#endif
    in_gate = true;
    invited++
}

proctype inviter() {
    byte me = INVITER, invited;
    PLACE;
    do
    :: TAKE
    :: GIVE_BACK
    :: !HAS_TUPLE && !DRAINED -> look_or_sleep()
    :: !in_gate && invited < JOINS -> invite()
    :: DRAINED -> break
    od;
    atomic { release(); check_all_came() }
}

proctype joiner() {
    byte me = JOINER;
    PLACE;
end:
    do
    :: d_step { in_gate -> take_over() };
        do
        :: TAKE
        :: GIVE_BACK
        :: !HAS_TUPLE && !DRAINED -> look_or_sleep()
        :: DRAINED -> atomic { release(); check_all_came(); held = false }; break
        :: atomic { release(); held = false; break } /* leaves */
        od;
#ifdef PLANTED_LEFT_BUT_NEVER_WENT_OUT
        break;
#endif
        in_gate = false
    od
}

init {
    atomic {
        run source(0);
        run source(1);
        run inviter();
        run joiner()
    }
}
