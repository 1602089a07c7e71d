/* One source, a bounded ring and its readers, who sleep on bells: a sequence word and a count of sleepers.
 *
 * The sleeper: takes a ticket (the sequence), looks, registers, and lets the kernel put it to sleep if
 * the sequence is still its ticket. The ringer: changes what is looked at, counts the sequence up, and
 * wakes if somebody is registered. Each stores one word and then loads the other's, so both must be
 * sequentially consistent: then one of the two sees the other.
 * `wanting` does the same once more, so that a reader that gives room back rings only where a source
 * found none: the source sets it and looks at the heads again, the reader stores its head and looks at
 * it, takes it back and rings, in this order: a source that wants again has a ticket from before the ring.
 * A source that finds room all the same takes it back itself.
 * A reader may die between the last two; its successor rings.
 *
 * Checked: every run ends, so nobody sleeps while there is something to take, or room to fill.
 */
#ifndef READERS
#define READERS 2
#define SLOTS 1
#define TUPLES 2
#endif
#define PROCESSES (READERS + 1) /* the readers, then the source */
#define SOURCE READERS

#define SEQUENCE(process_) (process_)
#define SLEEPERS(process_) (PROCESSES + (process_))
#define HEAD(reader_) (2 * PROCESSES + (reader_))
#define TAIL (2 * PROCESSES + READERS)
#define WANTING (TAIL + 1)
#define WORDS (WANTING + 1)
#include "memory.inc"

bool asleep[PROCESSES]; /* in the kernel, each on its own bell */

inline ring(whose_) {
#ifdef PLANTED_SLEEPERS_BEFORE_SEQUENCE
    registered = word[SLEEPERS(whose_)];
    COUNT_UP(SEQUENCE(whose_));
#else
#ifdef PLANTED_RELAXED_SEQUENCE
    STORE(SEQUENCE(whose_), word[SEQUENCE(whose_)] + 1);
#else
    COUNT_UP(SEQUENCE(whose_));
#endif
    registered = word[SLEEPERS(whose_)];
#endif
    if
    :: registered -> asleep[whose_] = false
    :: else
    fi;
    registered = 0
}

/* The kernel compares and puts to sleep in one step. */
inline sleep() {
    COUNT_UP(SLEEPERS(me));
#ifdef PLANTED_KERNEL_DOES_NOT_COMPARE
    asleep[me] = true;
#else
    asleep[me] = (word[SEQUENCE(me)] == ticket);
#endif
    !asleep[me];
    COUNT_DOWN(SLEEPERS(me))
}

inline take_ticket() { ticket = word[SEQUENCE(me)] }

/* Whether the slowest reader leaves room; heads only grow, so the order of the looks does not matter. */
inline look_for_room() {
    room = (sent - word[HEAD(0)] < SLOTS);
    room = (room && sent - word[HEAD(READERS - 1)] < SLOTS)
}

inline want() {
    STORE(WANTING, true);
#ifndef PLANTED_RELAXED_WANTING
    FENCE;
#endif
#ifdef PLANTED_TAKEN_BACK_BEFORE_LOOK
    STORE(WANTING, false);
#endif
#ifndef PLANTED_NO_LOOK_AFTER_WANTING
    look_for_room();
    if
    :: room -> STORE(WANTING, false)
    :: else
    fi
#endif
}

/* Until there is room; a try that fails is made behind a ticket. */
inline claim() {
    do
    :: room -> break
    :: !room ->
#ifndef PLANTED_TICKET_AFTER_LOOK
        take_ticket();
#endif
        look_for_room();
        if
        :: room -> break
        :: !room -> want()
        fi;
#ifdef PLANTED_TICKET_AFTER_LOOK
        take_ticket();
#endif
        if
        :: room -> break
        :: !room -> sleep()
        fi
    od
}

inline ring_the_readers() {
    for (reader_ : 0 .. READERS - 1) { ring(reader_) }
    reader_ = 0
}

proctype source(byte me) {
    byte sent, ticket, registered, reader_;
    bool room;
    do
    :: sent < TUPLES ->
        claim();
        sent++;
#ifdef PLANTED_RING_BEFORE_PUBLISH
        ring_the_readers()
        STORE(TAIL, sent);
#else
        STORE(TAIL, sent);
        ring_the_readers()
#endif
        room = false
    :: else -> break
    od
}

inline look_whether_wanted() {
    if
    :: word[WANTING] ->
#ifdef PLANTED_RING_BEFORE_TAKING_BACK
        ring(SOURCE);
        STORE(WANTING, false);
        FENCE
#else
        STORE(WANTING, false);
        FENCE;
        if
        :: ring(SOURCE)
        :: d_step { !died -> died = true }
        fi
#endif
    :: else
    fi
}

inline give_back() {
    STORE(HEAD(me), taken);
#ifndef PLANTED_RELAXED_RELEASE
    FENCE;
#endif
    look_whether_wanted()
}

proctype reader(byte me) {
    byte taken, ticket, registered;
    bool died, succeeded;
    do
    :: taken < TUPLES && died == succeeded ->
        take_ticket();
        if
        :: word[TAIL] != taken -> taken++; give_back()
        :: else -> sleep()
        fi
    :: died != succeeded -> /* begins where the head is: that is `taken` */
        succeeded = true;
#ifndef PLANTED_SUCCESSOR_DOES_NOT_RING
        ring(SOURCE)
#endif
    :: taken == TUPLES && died == succeeded -> break
    od
}

init {
    atomic {
        byte i;
        for (i : 0 .. READERS - 1) { run reader(i) }
        run source(SOURCE)
    }
}
