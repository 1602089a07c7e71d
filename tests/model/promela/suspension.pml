/* A run is suspended by a cut: its sources stop, come to the latest time that one of them has reached, and the
 * leader closes the run there.
 *
 * Record. One word: an attempt, and whether that is proposed, decided, closing, closed or void; beside it a time.
 * Source. When it is asked it answers with the time of its last row, and sends nothing before the decision. Then
 *         it sends all up to the decided time, says that it is there, and waits. It ends, with all its rows
 *         sent, unless it has answered; or once the run is closed.
 * Leader. Decides the latest time that was answered, or at which a source has ended. When all are there or have
 *         ended it says that it is closing, looks whether the bolt has begun its end, and closes the run or gives
 *         the attempt up. When a source is killed the attempt is void before the successor begins, unless the
 *         run is closed.
 * Bolt.   Takes all rows. When its input is over it says that it begins its end, waits while the leader is
 *         closing, and does what is due at the end of all input, unless the run is closed.
 *
 * Checked: a closed run has all rows up to its time, no other, and no end of the input; every run ends. The first
 * source may be killed.
 */
#ifndef ROWS
#define ROWS 2
#define ATTEMPTS 2
#define KILLS 1
#endif
#define SOURCES 2

#define VOID 0
#define PROPOSED 1
#define DECIDED 2
#define CLOSING 3
#define CLOSED 4
byte attempt, state, time;

byte sent[SOURCES];     /* so many rows, at the times 1, 2, ... of the first source, 2, 4, ... of the second */
byte answered[SOURCES]; /* the attempt */
byte answer[SOURCES];   /* the time */
byte passed[SOURCES];   /* the attempt */
bool ended[SOURCES];    /* all rows of the source are sent */
bool over[SOURCES];     /* nothing more comes to the bolt */
bool begins_end, has_fired, killed;

#define TIME_OF(source_, rows_) ((rows_) * ((source_) + 1))
#define REACHED(source_) TIME_OF(source_, sent[source_])
#define NEXT(source_) TIME_OF(source_, sent[source_] + 1)
#define HAS_ROW (sent[me] < ROWS)

/* -- a source; what it has said binds its successor, too */

#define IS_ASKED (state != VOID && answered[me] == attempt)
#define IS_DECIDED (IS_ASKED && state != PROPOSED)

proctype source(byte me) {
again:
    {
        do
        :: d_step { state == PROPOSED && answered[me] != attempt && !ended[me] ->
            answer[me] = REACHED(me);
            answered[me] = attempt }
#ifdef PLANTED_SENDS_BEFORE_DECISION
        :: d_step { HAS_ROW && (!IS_DECIDED || NEXT(me) <= time) -> sent[me]++ }
#else
        :: d_step { HAS_ROW && (!IS_ASKED || (IS_DECIDED && NEXT(me) <= time)) -> sent[me]++ }
#endif
        :: d_step { IS_DECIDED && (!HAS_ROW || NEXT(me) > time) && passed[me] != attempt ->
            passed[me] = attempt }
        :: d_step { !HAS_ROW && !IS_ASKED -> ended[me] = true; over[me] = true };
            break
        :: d_step { state == CLOSED -> over[me] = true }; break
        od
    } unless {
        atomic { me == 0 && killed ->
            killed = false;
            if
            :: state != CLOSED -> state = VOID
            :: else
            fi;
            goto again }
    }
}

active proctype killer() {
    byte kills;
    do
    :: atomic { kills < KILLS && !killed && !over[0] -> killed = true; kills++ }
    :: break
    od
}

/* -- the bolt */

proctype bolt() {
    (over[0] && over[1]);
#ifdef PLANTED_LOOKS_BEFORE_IT_SAYS
    state != CLOSING;
    if
    :: state == CLOSED
    :: else -> begins_end = true; has_fired = true
    fi
#else
    begins_end = true;
    state != CLOSING;
    if
    :: state == CLOSED
    :: else -> has_fired = true
    fi
#endif
}

/* -- the leader */

#ifdef PLANTED_DECIDED_BY_ONE
#define HAVE_ANSWERED (answered[0] == attempt || ended[0])
#else
#define HAVE_ANSWERED ((answered[0] == attempt || ended[0]) && (answered[1] == attempt || ended[1]))
#endif
#define HAVE_PASSED ((passed[0] == attempt || ended[0]) && (passed[1] == attempt || ended[1]))

inline consider(source_) {
    if
    :: answered[source_] == attempt && answer[source_] > time -> time = answer[source_]
#ifndef PLANTED_ENDED_NOT_COUNTED
    :: answered[source_] != attempt && ended[source_] && REACHED(source_) > time -> time = REACHED(source_)
#endif
    :: else
    fi
}

proctype leader() {
    bool is_ending;
    do
    :: attempt < ATTEMPTS && state != CLOSED ->
        d_step { attempt++; state = PROPOSED; time = 0 };
        (HAVE_ANSWERED || state == VOID);
        d_step {
            if
            :: state == PROPOSED -> consider(0); consider(1); state = DECIDED
            :: else
            fi
        };
        (HAVE_PASSED || state == VOID);
#ifdef PLANTED_CLOSED_OVER_A_DEATH
        state = CLOSING;
#else
        d_step {
            if
            :: state == DECIDED -> state = CLOSING
            :: else
            fi
        };
#endif
#ifdef PLANTED_END_NOT_LOOKED_AT
        is_ending = false;
#else
        is_ending = begins_end;
#endif
        d_step {
            if
            :: state == CLOSING && !is_ending -> state = CLOSED
            :: else -> state = VOID
            fi;
            is_ending = false
        }
    :: break
    od;
    if
    :: state == CLOSED ->
        assert(!has_fired);
        assert(REACHED(0) <= time && (sent[0] == ROWS || NEXT(0) > time));
        assert(REACHED(1) <= time && (sent[1] == ROWS || NEXT(1) > time))
    :: else
    fi;
    (over[0] && over[1]);
    assert(state != CLOSED || (!has_fired && REACHED(0) <= time && REACHED(1) <= time))
}

init {
    atomic {
        run source(0);
        run source(1);
        run bolt();
        run leader()
    }
}
