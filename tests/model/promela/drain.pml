/* A run drains: its sources stop, come to the latest time that one of them has reached, and end there.
 *
 * Record. One word: an attempt, and whether that is proposed, decided or void; beside it a time, and whether the
 *         sources are released.
 * Source. It hears that the run drains at any time, before or after it is asked where it is. From then on it sends
 *         what lies up to a decided time, and nothing else. When it is asked it answers with the time of its last
 *         row, and sends nothing before the decision. Behind the decided time it ends; so it does with all its
 *         rows sent, or released.
 * Leader. Decides the latest time that was answered, or at which a source has ended. When all have ended, or after
 *         any time, it releases the sources. When a source is killed the attempt is void before the successor
 *         begins, which has not heard that the run drains, unless the time is decided.
 *
 * Checked: unless the leader has given up, all rows up to the time are sent, and no other; every run ends. The first
 * source may be killed.
 */
#ifndef ROWS
#define ROWS 2
#define KILLS 1
#endif
#define SOURCES 2

#define VOID 0
#define PROPOSED 1
#define DECIDED 2
byte attempt, state, time;
bool released, given_up;

byte sent[SOURCES];     /* so many rows, at the times 1, 2, ... of the first source, 2, 4, ... of the second */
byte answered[SOURCES]; /* the attempt */
byte answer[SOURCES];   /* the time */
bool drains[SOURCES];   /* the source has heard that the run drains */
bool ended[SOURCES];
bool killed;

#define TIME_OF(source_, rows_) ((rows_) * ((source_) + 1))
#define REACHED(source_) TIME_OF(source_, sent[source_])
#define NEXT(source_) TIME_OF(source_, sent[source_] + 1)
#define HAS_ROW (sent[me] < ROWS)

/* -- a source; what it has said binds its successor, too */

#define IS_ASKED (state == PROPOSED && answered[me] == attempt)
#ifdef PLANTED_SENDS_BEFORE_DECISION
#define MAY_SEND (state != DECIDED || NEXT(me) <= time)
#else
#define MAY_SEND ((state == DECIDED && NEXT(me) <= time) || (state != DECIDED && !drains[me] && !IS_ASKED))
#endif

proctype source(byte me) {
again:
    {
        do
        :: d_step { !drains[me] -> drains[me] = true }
        :: d_step { state == PROPOSED && answered[me] != attempt ->
            answer[me] = REACHED(me);
            answered[me] = attempt }
        :: d_step { HAS_ROW && MAY_SEND -> sent[me]++ }
#ifdef PLANTED_ENDS_WHERE_IT_IS
        :: d_step { drains[me] && state == DECIDED -> ended[me] = true }; break
#else
        :: d_step { drains[me] && state == DECIDED && HAS_ROW && NEXT(me) > time -> ended[me] = true }; break
#endif
        :: d_step { !HAS_ROW -> ended[me] = true }; break
        :: d_step { drains[me] && released -> ended[me] = true }; break
        od
    } unless {
        atomic { me == 0 && killed ->
            killed = false;
            drains[0] = false;
            if
#ifdef PLANTED_VOID_THOUGH_DECIDED
            :: state = VOID
#else
            :: state != DECIDED -> state = VOID
            :: else
#endif
            fi;
            goto again }
    }
}

active proctype killer() {
    byte kills;
    do
    :: atomic { kills < KILLS && !killed && !ended[0] -> killed = true; kills++ }
    :: break
    od
}

/* -- the leader */

#ifdef PLANTED_DECIDED_BY_ONE
#define HAVE_ANSWERED (answered[0] == attempt || ended[0])
#else
#define HAVE_ANSWERED ((answered[0] == attempt || ended[0]) && (answered[1] == attempt || ended[1]))
#endif

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
    do
    :: state == VOID ->
        d_step { attempt++; state = PROPOSED; time = 0 };
        if
        :: HAVE_ANSWERED || state == VOID
        :: given_up = true; break
        fi;
        d_step {
            if
#ifdef PLANTED_DECIDED_OVER_A_DEATH
            :: consider(0); consider(1); state = DECIDED
#else
            :: state == PROPOSED -> consider(0); consider(1); state = DECIDED
            :: else
#endif
            fi
        }
    :: state == DECIDED ->
        if
        :: ended[0] && ended[1]
        :: given_up = true
        fi;
        break
    od;
#ifndef PLANTED_NOT_RELEASED
    released = true;
#endif
    (ended[0] && ended[1]);
    if
    :: state == DECIDED && !given_up ->
        assert(REACHED(0) <= time && (sent[0] == ROWS || NEXT(0) > time));
        assert(REACHED(1) <= time && (sent[1] == ROWS || NEXT(1) > time))
    :: else
    fi
}

init {
    atomic {
        run source(0);
        run source(1);
        run leader()
    }
}
