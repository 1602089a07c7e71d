/* A component with state by key gets another number of tasks while the run goes on: at one time all its key groups
 * change hands that have another owner by the new number.
 *
 * Record. One word: an attempt, what it is for, a time, and whether that is proposed, decided or void. Agreed on as in
 *         cut.pml, for a change of the number or for a checkpoint, one at a time. A death makes it void, unless a
 *         change was decided: then some may have handed over already.
 * Source. Divides its rows: what lies below the time by the old number, the rest by the new one.
 * Task.   Processes what lies below the time, commits, says that it has handed over, waits until those have who own what
 *         it gets, takes that over and commits the new number. Only then does it go on.
 * Page.   What a process goes back to when it is killed: its place, the number, and the attempt that it has passed.
 *         Behind that commit it says so in a register; when all have, the change is complete, and the parent goes on.
 * Groups. Their rows' counts lie in shared memory; a task that dies has what it had not committed taken back.
 * Sink.   Merges what the tasks emit for their rows, at the same times, and holds a task back whose channel is full. A
 *         task that stands at the time promises it that all below has come, or another one might wait for room for ever.
 *         Event time may have ended before: rows behind it are those of windows that the end of the input closes.
 *
 * A number of tasks is a division of two groups: first both are of one task, then each has one, then these change
 * places, as groups do between more tasks. At each time there is one row of each group. Any process but the parent may
 * be killed. The parent wants the second number, and then the third one or a checkpoint.
 *
 * Checked: each row is processed once, in order, by the owner of its group, while nobody else has changed that and not
 * committed, or opens it; a checkpoint has each group once, as of its time; the sink takes all that is emitted, in order;
 * every run ends with all rows processed.
 */
#ifndef TUPLES
#define TUPLES 1 /* of each source, 3 at most */
#define ATTEMPTS 2
#define KILLS 1
#endif
#define LAST_TIME 0 /* of event time */
#define END 15
#define SOURCES 2
#define TASKS 2
#define GROUPS 2

#define OWNER(number_, group_) ((number_) == 0 -> 0 : ((number_) == 1 -> (group_) : 1 - (group_)))
#define GROUP(source_, row_) (((source_) + (row_)) % GROUPS)

/* The time of a source's row; behind the last one there is the end. Of each group so many rows lie below a time. */
#define ROW(number_) ((number_) < TUPLES -> (number_) + 1 : END)
#define ROWS_BELOW(time_) ((time_) - 1 < TUPLES -> (time_) - 1 : TUPLES)

#define VOID 0
#define PROPOSED 1
#define DECIDED 2
#define CHECKPOINT 0 /* instead of a number to change to */
#define ENTRY(attempt_, aim_, time_, state_) (((attempt_) << 8) | ((aim_) << 6) | ((time_) << 2) | (state_))
#define ATTEMPT_OF(record_) ((record_) >> 8)
#define AIM_OF(record_) (((record_) >> 6) & 3)
#define TIME_OF(record_) (((record_) >> 2) & 15)
#define STATE_OF(record_) ((record_) & 3)
short record;

#define ACCEPTED(attempt_) (2 * (attempt_) + 1)
#define AHEAD(attempt_) (2 * (attempt_))
byte answer[SOURCES];
byte handed[TASKS];           /* the attempt for which a task has */
byte done[TASKS + SOURCES];   /* the attempt that a process has passed and committed */

/* Of a source to a task: which of its rows were published, by bits; how many to any, and what was promised. */
byte published[SOURCES * TASKS], tail[SOURCES], progress[SOURCES];
#define RING(source_, task_) (TASKS * (source_) + (task_))

/* The pages: of a source how many rows it has sent, of a task its places in its inputs. */
byte page_number[TASKS + SOURCES], page_passed[TASKS + SOURCES], page_sent[SOURCES], page_cursor[SOURCES * TASKS];

/* Of each group the rows that were counted, how many of them as of the last commit, and who has changed that since. */
byte count[GROUPS], saved[GROUPS], changed_by[GROUPS];
#define NOBODY 0
#define TASK(task_) ((task_) + 1)
#define is_free(group_) (changed_by[group_] == NOBODY)
byte in_checkpoint[GROUPS]; /* the attempt */

/* Of a task to the sink, whose channel has room for one row: its time, or 0; how many were put there; what was promised. */
byte waiting[TASKS], put[TASKS], told[TASKS], page_made[TASKS], taken;

byte killed; /* a process, by its number and 1 */
#define SOURCE(source_) (TASKS + (source_))

#define IS_DUE (STATE_OF(record) == DECIDED && passed != ATTEMPT_OF(record))

/* By the parent, when somebody has died and before the successor begins. */
inline hear_of_death() {
    if
#ifdef PLANTED_VOID_THOUGH_DECIDED
    :: true ->
#else
    :: STATE_OF(record) == PROPOSED || AIM_OF(record) == CHECKPOINT ->
#endif
        record = ENTRY(ATTEMPT_OF(record), 0, 0, VOID)
    :: else
    fi
}

#ifdef PLANTED_FIRST_NUMBER
#define NUMBER_FOUND(process_) 0
#else
#define NUMBER_FOUND(process_) page_number[process_]
#endif

/* Behind the time a process goes on by the new number. */
inline pass() {
    number = (AIM_OF(record) == CHECKPOINT -> number : AIM_OF(record));
    passed = ATTEMPT_OF(record)
}

/* Told once more by a successor that finds it committed: the dead one may not have come to that. */
#define IS_TO_TELL(process_) \
    (STATE_OF(record) == DECIDED && page_passed[process_] == ATTEMPT_OF(record) && \
     done[process_] != ATTEMPT_OF(record))
#define TELL(process_) d_step { IS_TO_TELL(process_) -> done[process_] = ATTEMPT_OF(record) }

/* -- a source: it looks at the record before each step */

#define WAITS (STATE_OF(record) == PROPOSED && answer[me] == ACCEPTED(ATTEMPT_OF(record)))
#define IS_ASKED (STATE_OF(record) == PROPOSED && answer[me] >> 1 != ATTEMPT_OF(record))
#define IS_BELOW ((tail[me] == 0 || ROW(tail[me] - 1) < TIME_OF(record)) && progress[me] < TIME_OF(record))

#ifdef PLANTED_SWITCHES_LATE
#define LIMIT (WAITS -> TIME_OF(record) : (IS_DUE -> TIME_OF(record) + 1 : END + 1))
#else
#define LIMIT (WAITS || IS_DUE -> TIME_OF(record) : END + 1)
#endif
#define LIMIT_OF_PROMISE (WAITS -> TIME_OF(record) - 1 : LIMIT)
#define PROMISE (ROW(sent) < LIMIT_OF_PROMISE -> ROW(sent) : LIMIT_OF_PROMISE)
#define HAS_ROW_TO_SEND (!IS_ASKED && sent < TUPLES && ROW(sent) < LIMIT)
#define CAN_PROMISE (!IS_ASKED && !HAS_ROW_TO_SEND && PROMISE > progress[me])
#define HAS_SENT_ALL_BELOW (IS_DUE && !HAS_ROW_TO_SEND)

inline say() {
    answer[me] = (IS_BELOW -> ACCEPTED(ATTEMPT_OF(record)) : AHEAD(ATTEMPT_OF(record)))
}

/* What a predecessor has published is there already. */
inline send_row() {
    ring = RING(me, OWNER(number, GROUP(me, sent)));
    published[ring] = published[ring] | (1 << sent);
    ring = 0;
    sent++;
    tail[me] = (tail[me] < sent -> sent : tail[me])
}

#define IS_COMMITTED (sent == page_sent[me] && passed == page_passed[SOURCE(me)])
inline commit_source() {
    page_sent[me] = sent;
    page_number[SOURCE(me)] = number;
    page_passed[SOURCE(me)] = passed
}

inline begin_source() {
    d_step {
        sent = page_sent[me];
        number = NUMBER_FOUND(SOURCE(me));
        passed = page_passed[SOURCE(me)]
    }
}

proctype source(byte me) {
    byte sent, number, passed, ring;
again:
    ring = 0;
    begin_source();
    {
end:
        do
        :: d_step { IS_ASKED -> say() }
        :: d_step { HAS_ROW_TO_SEND -> send_row() }
        :: d_step { CAN_PROMISE -> progress[me] = PROMISE }
        :: d_step { HAS_SENT_ALL_BELOW -> pass() }
        :: d_step { !IS_COMMITTED -> commit_source() }
        :: TELL(SOURCE(me))
        od
    } unless {
        atomic { killed == SOURCE(me) + 1 -> killed = 0; hear_of_death(); goto again }
    }
}

active proctype killer() {
    byte kills;
end:
    do
    :: atomic {
        kills < KILLS && !killed ->
        if
        :: killed = SOURCE(0) + 1
        :: killed = SOURCE(1) + 1
        :: killed = TASK(0)
        :: killed = TASK(1)
        fi;
        kills++
    }
    od
}

/* -- a task: it looks at the record behind its input */

#define IS_THERE(source_, row_) ((row_) >= cursor[source_] && (published[RING(source_, me)] >> (row_)) & 1)
/* The first row of a source that has not been processed. */
#define NEXT(source_) \
    (IS_THERE(source_, 0) -> 0 : (IS_THERE(source_, 1) -> 1 : (IS_THERE(source_, 2) -> 2 : TUPLES)))
#define BOUND(source_) (NEXT(source_) < TUPLES -> ROW(NEXT(source_)) : progress[source_])
#define ROOT (BOUND(1) < BOUND(0) -> 1 : 0)
#define IS_AT_THE_TIME (IS_DUE && BOUND(0) >= TIME_OF(record) && BOUND(1) >= TIME_OF(record))
#define IS_TO_HAND_OVER (IS_AT_THE_TIME && AIM_OF(record) != CHECKPOINT)
/* What a predecessor has put into the channel is not put there once more. */
#define HAS_ROOM (made < put[me] || waiting[me] == 0)
#define HAS_ROW (!IS_AT_THE_TIME && NEXT(ROOT) < TUPLES && HAS_ROOM)

/* How far a task tells the sink that it is. */
#ifdef PLANTED_PROMISES_EVENT_TIME
#define HAS_ENDED (progress[0] == END && progress[1] == END)
#define STANDING (HAS_ENDED && LAST_TIME + 1 < TIME_OF(record) -> LAST_TIME + 1 : TIME_OF(record))
#else
#define STANDING TIME_OF(record)
#endif
#define REACHED (IS_AT_THE_TIME -> STANDING : BOUND(ROOT))
#define CAN_TELL (!HAS_ROW && told[me] < REACHED)

inline process_row() {
    root = ROOT;
    row = NEXT(root);
    group = GROUP(root, row);
    assert(OWNER(number, group) == me);
    assert(is_free(group) || changed_by[group] == TASK(me));
    assert(count[group] == row);
    changed_by[group] = TASK(me);
    count[group]++;
    cursor[root] = row + 1;
    if
    :: made == put[me] -> waiting[me] = ROW(row); put[me]++
    :: made < put[me]
    fi;
    made++;
    root = 0;
    row = 0;
    group = 0
}

inline commit_group(group_) {
    if
    :: changed_by[group_] == TASK(me) -> saved[group_] = count[group_]; changed_by[group_] = NOBODY
    :: else
    fi
}

inline commit() {
    d_step {
        commit_group(0);
        commit_group(1);
        page_cursor[RING(0, me)] = cursor[0];
        page_cursor[RING(1, me)] = cursor[1];
        page_number[me] = number;
        page_passed[me] = passed;
        page_made[me] = made
    }
}

inline take_back(group_) {
    if
    :: changed_by[group_] == TASK(me) -> count[group_] = saved[group_]; changed_by[group_] = NOBODY
    :: else
    fi
}

/* Whoever opens a group gives back memory that its last owner was about to claim: nobody may be at work in it. */
inline open() {
    assert(OWNER(number, 0) != me || is_free(0));
    assert(OWNER(number, 1) != me || is_free(1))
}

/* What was handed over is not opened, although the number that was committed says that it is the task's. */
#ifdef PLANTED_OPENS_WHAT_IT_HANDED
#define HAS_HANDED false
#else
#define HAS_HANDED (handed[me] > passed)
#endif

inline begin_task() {
    d_step {
        take_back(0);
        take_back(1);
        cursor[0] = page_cursor[RING(0, me)];
        cursor[1] = page_cursor[RING(1, me)];
        number = NUMBER_FOUND(me);
        passed = page_passed[me];
        made = page_made[me];
        if
        :: !HAS_HANDED -> open()
        :: HAS_HANDED
        fi
    }
}

/* What a task gets is the other one's. */
#define GETS(group_) (OWNER(AIM_OF(record), group_) == me && OWNER(number, group_) != me)
#ifdef PLANTED_OWNERSHIP_BEFORE_HANDED
#define MAY_TAKE_OVER true
#else
#define MAY_TAKE_OVER (!(GETS(0) || GETS(1)) || handed[1 - me] >= ATTEMPT_OF(record))
#endif

inline hand_over() {
#ifdef PLANTED_HANDED_BEFORE_COMMIT
    handed[me] = ATTEMPT_OF(record);
#endif
    commit();
#ifdef PLANTED_WAITS_BEFORE_IT_HANDS
    MAY_TAKE_OVER;
#endif
    handed[me] = ATTEMPT_OF(record);
    MAY_TAKE_OVER;
    d_step { pass(); open() };
    commit()
}

inline save_group(group_) {
    if
    :: OWNER(number, group_) == me ->
        assert(count[group_] == ROWS_BELOW(TIME_OF(record)) && in_checkpoint[group_] != ATTEMPT_OF(record));
        in_checkpoint[group_] = ATTEMPT_OF(record)
    :: else
    fi
}

proctype task(byte me) {
    byte cursor[SOURCES], number, passed, made, root, row, group;
again:
    row = 0;
    begin_task();
    {
end:
        do
        :: d_step {
            HAS_ROW ->
            do
            :: HAS_ROW -> process_row()
            :: else -> break
            od };
            if
            :: IS_TO_HAND_OVER /* which begins with the commit */
            :: else -> commit()
            fi
        :: d_step { CAN_TELL -> told[me] = REACHED }
        :: IS_TO_HAND_OVER && !CAN_TELL -> hand_over()
        :: d_step { IS_AT_THE_TIME && AIM_OF(record) == CHECKPOINT && !CAN_TELL -> save_group(0); save_group(1); pass() };
            commit()
        :: TELL(me)
        od
    } unless {
        atomic { killed == TASK(me) -> killed = 0; hear_of_death(); goto again }
    }
}

/* -- the sink */

/* Of one time, the first task's. */
#define BOUND_OF(task_) (waiting[task_] != 0 -> waiting[task_] : told[task_])
#define COMES_FIRST(task_) (waiting[task_] != 0 && waiting[task_] + (task_) <= BOUND_OF(1 - (task_)))

inline take(task_) {
    assert(waiting[task_] >= sunk);
    sunk = waiting[task_];
    taken++;
    waiting[task_] = 0
}

active proctype sink() {
    byte sunk;
end:
    do
    :: d_step { COMES_FIRST(0) -> take(0) }
    :: d_step { COMES_FIRST(1) -> take(1) }
    od
}

/* -- the parent */

#define IS_VOID (STATE_OF(record) == VOID)
#define HAS_ACCEPTED(source_) (answer[source_] == ACCEPTED(attempt))
#define HAVE_ANSWERED ((answer[0] >> 1 == attempt && answer[1] >> 1 == attempt) || IS_VOID)
#ifdef PLANTED_COMPLETE_ONCE_HANDED
#define HAVE_DONE ((handed[0] == attempt && handed[1] == attempt) || IS_VOID)
#else
#define HAVE_DONE \
    ((done[0] == attempt && done[1] == attempt && done[2] == attempt && done[3] == attempt) || IS_VOID)
#endif

inline decide() {
    d_step {
        if
        :: !IS_VOID && HAS_ACCEPTED(0) && HAS_ACCEPTED(1) -> record = ENTRY(attempt, aim, time, DECIDED)
        :: else -> record = ENTRY(attempt, 0, 0, VOID)
        fi
    }
}

/* If it is not void, all have. */
inline complete() {
    d_step {
        if
        :: !IS_VOID ->
            assert(aim != CHECKPOINT || (in_checkpoint[0] == attempt && in_checkpoint[1] == attempt));
            is_last = (aim != 1);
            reached = aim;
            record = ENTRY(attempt, 0, 0, VOID)
        :: else
        fi;
        aim = 0;
        time = 0
    }
}

proctype parent() {
    byte attempt, aim, time, reached;
    bool is_last;
    do
    :: attempt < ATTEMPTS && !is_last ->
        atomic {
            attempt++;
            select(time : 1 .. TUPLES + 1);
            if
            :: aim = reached + 1
            :: reached == 1 -> aim = CHECKPOINT
            fi;
            record = ENTRY(attempt, aim, time, PROPOSED)
        };
        HAVE_ANSWERED;
        decide();
        HAVE_DONE;
        complete()
    :: break
    od;
    count[0] == TUPLES && count[1] == TUPLES && is_free(0) && is_free(1) && taken == SOURCES * TUPLES
}

init {
    atomic {
        run source(0);
        run source(1);
        run task(0);
        run task(1);
        run parent()
    }
}
