/* A checkpoint is cut at one time, which the parent proposes and all sources agree to, while the run goes on.
 *
 * Record. One word: an epoch, a time, and whether that is proposed, decided or void.
 * Source. Before it publishes at or beyond the time, and before it promises that all below it has come, it
 *         answers: it accepts, and waits there for the decision, or it is ahead.
 * Parent. Decides if all accept; if one is ahead, the epoch is void, and there is another one. When a source is
 *         killed the epoch is void, too, before the successor begins.
 * Task.   Merges its inputs. It looks at the record after it has acquired what they have: who sees a row
 *         at or beyond the time sees the decision. It processes what lies below the time, and writes its part.
 *
 * At each time there is a tick, and then a row of each source. The first source may be killed.
 *
 * Checked: a part covers all that lies below the time, and nothing else; whatever is decided is completed,
 * unless a source is killed; a void epoch does not keep anybody; every run ends.
 */
#ifndef TUPLES
#define TUPLES 1
#define EPOCHS 2
#define KILLS 1
#endif
#define END 15
#define SOURCES 2

#define TASK SOURCES
#define PARENT (SOURCES + 1)

#define RECORD 0
#define TAIL(source_) (1 + (source_))
#define PROGRESS(source_) (3 + (source_))
#define ANSWER(source_) (5 + (source_))
#define PART(process_) (7 + (process_))
byte word[7 + SOURCES + 1];

#define VOID 0
#define PROPOSED 1
#define DECIDED 2
#define ENTRY(epoch_, time_, state_) (((epoch_) << 6) | ((time_) << 2) | (state_))
#define EPOCH_OF(record_) ((record_) >> 6)
#define TIME_OF(record_) (((record_) >> 2) & 15)
#define STATE_OF(record_) ((record_) & 3)
#define ACCEPTED(epoch_) (2 * (epoch_) + 1)
#define AHEAD(epoch_) (2 * (epoch_))

/* The time of a source's row, which a successor finds again; behind the last one there is the end. */
#define ROW(number_) ((number_) < TUPLES -> (number_) + 1 : END)

/* A number of rows is all that lie below the time, and no other. */
inline check_part(count_) {
    assert((count_ == 0 || ROW(count_ - 1) < TIME_OF(record)) && ROW(count_) >= TIME_OF(record))
}

bool killed; /* the first source */

#define IS_DUE (STATE_OF(record) == DECIDED && word[PART(me)] != EPOCH_OF(record))

/* -- a source */

#define HAS_ACCEPTED (word[ANSWER(me)] == ACCEPTED(EPOCH_OF(record)))
#if defined PLANTED_DECISION_NOT_AWAITED
#define WAITS false
#elif defined PLANTED_VOID_BINDS
#define WAITS (STATE_OF(record) != DECIDED && HAS_ACCEPTED)
#else
#define WAITS (STATE_OF(record) == PROPOSED && HAS_ACCEPTED)
#endif

/* Whether nothing at or beyond the time is published, or promised away. */
#define SENT word[TAIL(me)]
#define PROMISED word[PROGRESS(me)]
#ifdef PLANTED_ACCEPTED_BEHIND_THE_TIME
#define IS_BELOW true
#else
#define IS_BELOW ((SENT == 0 || ROW(SENT - 1) < TIME_OF(record)) && PROMISED < TIME_OF(record))
#endif

/* The record is not changed between the look and the answer: the parent waits for that. */
inline look_and_answer() {
    d_step {
        record = word[RECORD];
        if
        :: STATE_OF(record) == PROPOSED && word[ANSWER(me)] >> 1 != EPOCH_OF(record) ->
            word[ANSWER(me)] = (IS_BELOW -> ACCEPTED(EPOCH_OF(record)) : AHEAD(EPOCH_OF(record)))
        :: else
        fi
    }
}

#define LIMIT (WAITS || IS_DUE -> TIME_OF(record) : END + 1)
#define HAS_ROW_TO_SEND (SENT < TUPLES && ROW(SENT) < LIMIT)

/* How far a source may promise: below the time, until that is decided. */
#ifdef PLANTED_TIME_PROMISED_BEFORE_DECISION
#define LIMIT_OF_PROMISE LIMIT
#else
#define LIMIT_OF_PROMISE (WAITS -> TIME_OF(record) - 1 : LIMIT)
#endif
#define PROMISE (ROW(SENT) < LIMIT_OF_PROMISE -> ROW(SENT) : LIMIT_OF_PROMISE)

#define CAN_PROMISE (!HAS_ROW_TO_SEND && PROMISE > PROMISED)
#define CAN_WRITE_PART (!HAS_ROW_TO_SEND && !CAN_PROMISE && IS_DUE)

/* At the end of its rows a source has nothing else to wait for. */
inline wait_for_record() {
    if
    :: PROMISED == END ->
end:    word[RECORD] != record
    :: PROMISED != END -> word[RECORD] != record
    fi
}

/* By the parent, when a source has died and before the successor begins. */
inline make_void() {
    word[RECORD] = ENTRY(EPOCH_OF(word[RECORD]), TIME_OF(word[RECORD]), VOID)
}

proctype source(byte me) {
    byte record;
again:
    record = 0;
    {
        do
        :: true ->
            look_and_answer();
            if
            :: d_step { HAS_ROW_TO_SEND -> SENT++; record = 0 }
            :: d_step { CAN_PROMISE -> PROMISED = PROMISE; record = 0 }
            :: d_step { CAN_WRITE_PART -> check_part(SENT); word[PART(me)] = EPOCH_OF(record); record = 0 }
            :: else -> wait_for_record()
            fi
        od
    } unless {
        atomic { me == 0 && killed -> killed = false; make_void(); goto again }
    }
}

active proctype killer() {
    byte kills;
    do
    :: atomic { kills < KILLS && !killed -> killed = true; kills++ }
    :: break
    od
}

/* -- the task */

#define HAS_ROW (cursor[root] != tail[root])
#define BOUND(source_) (cursor[source_] != tail[source_] -> ROW(cursor[source_]) : progress[source_])
#define IS_AT_THE_TIME (IS_DUE && bound >= TIME_OF(record))

inline find_root() {
    root = (BOUND(1) < BOUND(0) -> 1 : 0);
    bound = BOUND(root)
}

/* Whether there is something to do by what the words are now: else the task sleeps. */
#define NOW(source_) \
    (cursor[source_] != word[TAIL(source_)] -> ROW(cursor[source_]) : word[PROGRESS(source_)])
#define REACHED(time_) (NOW(0) >= time_ && NOW(1) >= time_)
#define ROW_COMES_NEXT \
    ((cursor[0] != word[TAIL(0)] && NOW(0) <= NOW(1)) || (cursor[1] != word[TAIL(1)] && NOW(1) < NOW(0)))
#define IS_DUE_NOW (STATE_OF(word[RECORD]) == DECIDED && word[PART(me)] != EPOCH_OF(word[RECORD]))
#define HAS_NEWS \
    (REACHED(ticked + 1) || ROW_COMES_NEXT || (IS_DUE_NOW && REACHED(TIME_OF(word[RECORD]))))

inline acquire() {
    progress[0] = word[PROGRESS(0)];
    progress[1] = word[PROGRESS(1)];
    tail[0] = word[TAIL(0)];
    tail[1] = word[TAIL(1)];
    find_root()
}

/* Ticks go off when all below their time has come, before the rows of that time. */
inline process() {
    do
    :: IS_AT_THE_TIME ->
        ticked = (ticked < TIME_OF(record) - 1 -> TIME_OF(record) - 1 : ticked);
        break
    :: !IS_AT_THE_TIME && bound > ticked -> ticked = bound
    :: !IS_AT_THE_TIME && bound <= ticked && HAS_ROW -> cursor[root]++; find_root()
    :: !IS_AT_THE_TIME && bound <= ticked && !HAS_ROW -> break
    od
}

inline write_part() {
    check_part(cursor[0]);
    check_part(cursor[1]);
    assert(ticked < TIME_OF(record));
    word[PART(me)] = EPOCH_OF(record)
}

#define FORGET progress[0] = 0; progress[1] = 0; tail[0] = 0; tail[1] = 0; bound = 0; root = 0; record = 0

proctype task(byte me) {
    byte cursor[SOURCES], ticked, record;
    byte tail[SOURCES], progress[SOURCES], root, bound; /* as acquired */
    do
    :: true ->
#ifdef PLANTED_RECORD_BEFORE_ACQUIRE
        record = word[RECORD];
end:    d_step { HAS_NEWS -> acquire() };
#else
end:    d_step { HAS_NEWS -> acquire() };
        record = word[RECORD];
#endif
        d_step {
            process();
            if
            :: IS_AT_THE_TIME -> write_part()
            :: else
            fi;
            FORGET
        }
    od
}

/* -- the parent */

#define IS_VOID (STATE_OF(word[RECORD]) == VOID)
#define HAS_ANSWERED(source_) (word[ANSWER(source_)] >> 1 == epoch || IS_VOID)
#define HAS_WRITTEN(process_) (word[PART(process_)] == epoch || IS_VOID)

proctype parent(byte me) {
    byte epoch, time;
    do
    :: epoch < EPOCHS ->
        epoch++;
        select(time : 1 .. TUPLES + 1);
        word[RECORD] = ENTRY(epoch, time, PROPOSED);
        HAS_ANSWERED(0);
#ifndef PLANTED_DECIDED_BY_ONE
        HAS_ANSWERED(1);
#endif
        if
        :: d_step {
#ifndef PLANTED_DECIDED_OVER_A_DEATH
            !IS_VOID &&
#endif
#ifndef PLANTED_DECIDED_BY_ONE
            word[ANSWER(1)] == ACCEPTED(epoch) &&
#endif
            word[ANSWER(0)] == ACCEPTED(epoch) -> word[RECORD] = ENTRY(epoch, time, DECIDED); time = 0 };
            HAS_WRITTEN(0);
            HAS_WRITTEN(1);
            HAS_WRITTEN(TASK)
        :: else -> d_step { word[RECORD] = ENTRY(epoch, time, VOID); time = 0 }
        fi
    :: break
    od
}

init {
    atomic {
        run source(0);
        run source(1);
        run task(TASK);
        run parent(PARENT)
    }
}
