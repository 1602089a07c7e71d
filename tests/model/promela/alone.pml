/* Two tasks of a group of shared tables, each in a process of its own, which is killed anywhere, its successors too.
 *
 * Log.       A task tells what some of its inputs want (its tail), and below what place nothing comes any more
 *            (collected). Both outlive it. The log has room for ROOM; what was committed gives it back.
 * Lease.     Who finds that both have come further than what was evaluated takes the lease, evaluates up to the lesser of
 *            both places, which counts by one store, gives the lease back, looks again, and rings the other.
 * Alone.     Some inputs want a function, which only their own task has. Who comes to one whose task it is not says whose
 *            turn it is, and nobody but that task evaluates then.
 * Slice.     A task takes some inputs, gathers some of these, waits until they are evaluated, calls them back, gathers the
 *            next, and commits behind the last. What it calls back it emits, into a ring of one slot that a consumer
 *            merges with that of the other; it waits for room there. While it waits it tells how far it is.
 * Burial.    The leader gives back the lease of a dead process, and what that had begun goes back; it rings both. The
 *            successor begins at the last commit. It may take fewer inputs at once than its predecessor had told of, and it
 *            knows the functions of those only. It leaves out what was emitted already.
 *
 * Input i of task t stands at the place 2 * i + t + 1.
 *
 * Checked: all is evaluated in order, each function in its task and once; the consumer gets all in order; every run ends.
 */
#ifndef INPUTS
#define INPUTS 2
#define KILLS 1
#endif
#define ROOM 2

#define PLACE(task_, input_) (2 * (input_) + (task_) + 1)
#define END (2 * INPUTS + 1)
#define IS_ALONE(task_, input_) ((input_) == (task_))
#define LESS(one_, other_) ((one_) < (other_) -> (one_) : (other_))
#define MORE(one_, other_) ((one_) > (other_) -> (one_) : (other_))

byte tail[2], head[2];           /* inputs that were told of; that are committed */
byte collected[2] = 1;           /* no input below this comes any more */
byte done[2], evaluated = 1;     /* inputs that are evaluated; below this all is */
byte holder, alone;              /* a task and 1; 0: nobody */
bool bell[2];
byte emitted[2], taken[2], progress[2];
byte killed;                     /* a task's process, and 1 */

#define FRONTIER LESS(collected[0], collected[1])
/* Whether what comes next of the log is a function that was given to the task in this process. */
#define KNOWS_NEXT (done[me] < at && IS_ALONE(me, done[me]))
#ifdef PLANTED_REPEATS_ALL_FIRST
#define MAY_RUN (at >= replay_end)
#else
#define MAY_RUN (at >= replay_end || KNOWS_NEXT)
#endif
#define IS_DUE (holder == 0 && (alone -> alone == me + 1 && MAY_RUN : FRONTIER > evaluated))
#define IS_READY (called < at && called < done[me])
#define HAS_ROOM (emitted[me] == taken[me])

/* -- evaluation */

#define TASK_AT(place_) (((place_) + 1) % 2)
#define INPUT_AT(place_) (((place_) - 1) / 2)
#define IS_TO_DO(place_) (done[TASK_AT(place_)] <= INPUT_AT(place_))

/* All that is told below the frontier, up to a function; one store makes it count. */
inline evaluate() {
    d_step {
        frontier = FRONTIER;
        do
        :: evaluated < frontier && !whose ->
            if
            :: IS_TO_DO(evaluated) && IS_ALONE(TASK_AT(evaluated), INPUT_AT(evaluated)) -> whose = TASK_AT(evaluated) + 1
            :: IS_TO_DO(evaluated) && !IS_ALONE(TASK_AT(evaluated), INPUT_AT(evaluated)) ->
                assert(tail[TASK_AT(evaluated)] > INPUT_AT(evaluated));
                done[TASK_AT(evaluated)]++;
                evaluated++
            :: else -> evaluated++
            fi
        :: else -> break
        od;
        frontier = 0
    }
}

/* With the lease; what the function did counts by one store. */
inline run_alone() {
    alone = me + 1;
    d_step {
        assert(done[me] < at && PLACE(me, done[me]) == evaluated);
        done[me]++
    };
    alone = 0
}

inline evaluate_what_is_due() {
    do
    :: atomic { IS_DUE -> holder = me + 1; may_run = MAY_RUN };
        evaluate();
        if
        :: whose == me + 1 && may_run -> run_alone()
        :: whose && !(whose == me + 1 && may_run) -> alone = whose
        :: !whose
        fi;
        d_step { holder = 0; whose = 0; may_run = false };
        bell[1 - me] = true
    :: else -> break
    od
}

/* -- a task */

inline gather() {
    d_step {
        tail[me] = MORE(tail[me], at);
        assert(tail[me] - head[me] <= ROOM)
    };
    collected[me] = MORE(collected[me], (at == INPUTS -> END : PLACE(me, at - 1) + 1));
    evaluate_what_is_due()
}

inline wait() {
    bell[me] = false;
    evaluate_what_is_due();
    progress[me] = MORE(progress[me], PLACE(me, called));
    if
    :: IS_READY && (called < emitted[me] || HAS_ROOM)
    :: else -> bell[me]
    fi
}

inline call_back() {
    d_step {
        if
        :: called < emitted[me] /* it is out already */
        :: called == emitted[me] -> assert(HAS_ROOM); emitted[me]++
        fi;
        called++
    }
}

proctype task(byte me) {
    byte at, called, end, replay_end, frontier, whose;
    bool may_run;
again:
    at = 0;
    d_step { end = 0; frontier = 0; whose = 0; may_run = false };
#ifndef PLANTED_LEASE_LEFT
    if
    :: holder == me + 1 -> alone = 0; holder = 0
    :: else
    fi;
#endif
#ifndef PLANTED_BURIED_IN_SILENCE
    d_step { bell[0] = true; bell[1] = true };
#endif
    d_step { called = head[me]; at = called; replay_end = tail[me] };
    {
        do
        :: called < INPUTS ->
            atomic { select(end : called + 1 .. LESS(called + ROOM, INPUTS)) };
            do
            :: called < end ->
                atomic { select(at : called + 1 .. end) };
                gather();
                do
                :: IS_READY && (called < emitted[me] || HAS_ROOM) -> call_back()
                :: called == at -> break
                :: called < at && !(IS_READY && (called < emitted[me] || HAS_ROOM)) -> wait()
                od
            :: called == end -> break
            od;
            head[me] = called
        :: else -> break
        od;
        progress[me] = END
    } unless {
        atomic { killed == me + 1 -> killed = 0; goto again }
    }
}

active proctype killer() {
    byte kills;
end:
    do
    :: atomic { kills < KILLS && !killed -> killed = 1; kills++ }
    :: atomic { kills < KILLS && !killed -> killed = 2; kills++ }
    od
}

/* -- the consumer, which takes from the task whose next output comes first */

#define IS_OUT(task_) (emitted[task_] > taken[task_])
#define NOTHING_BELOW(task_, place_) (IS_OUT(task_) || taken[task_] == INPUTS || progress[task_] >= (place_))

active proctype consumer() {
    byte place = 1;
    do
    :: place < END ->
        IS_OUT((place + 1) % 2) && NOTHING_BELOW(place % 2, place);
        d_step {
            assert(taken[(place + 1) % 2] == (place - 1) / 2);
            taken[(place + 1) % 2]++;
            bell[(place + 1) % 2] = true;
            place++
        }
    :: else -> break
    od;
    assert(done[0] == INPUTS && done[1] == INPUTS)
}

init {
    atomic { run task(0); run task(1) }
}
