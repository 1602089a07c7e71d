/* One of several idle claimants is woken, and the consumer passes over those that rest: ahead of the sources.
 *
 * Today whatever is added wakes all idle claimants, as the consumer needs the promise of each. Here a claimant that has
 * nothing to do says that it rests. A claim that it makes later is of a tuple behind all that were claimed till then, so
 * the consumer need not wait for it with an output that it has seen before it saw it rest.
 *
 * Claimant. Promises, says that it rests, rings the consumer, looks once more, and sleeps. It rests no more before it claims anything.
 *           Whoever has claimed a tuple and sees that more are there wakes another one.
 * Source.   Adds tuples into a ring of SLOTS slots that both claimants release, and ends when all their outputs have been
 *           taken. It wakes one that rests: it takes its word back and rings its bell. With no room it rings all of them, as
 *           they have not come past what others claimed; so it does at its end.
 * Consumer. Takes the least output if each other claimant has a later one, has promised enough, or rests and has none, in
 *           this order of looks. It sleeps on its bell.
 * Death.    Claimant 0 is killed anywhere, and has no successor. A claim that it had is lost, and counted. Whoever buries it
 *           rings all, as it may have been woken for a tuple.
 *
 * Where two tuples are added at once, the work on the first ends when the second is done, if both claimants live: who claims
 * the first has to wake the other.
 * A bell is a flag here; bell.pml has how it comes about.
 *
 * Checked: the consumer gets the outputs in order, all but the lost ones; every run ends.
 */
#ifndef TUPLES
#define TUPLES 2
#define KILLS 1
#endif
#define SLOTS 2
#define CONSUMER 2
#define SOURCE 3

byte tail, head[2], claimed;
bool closed;
#if TUPLES > SLOTS
bool wanting;
#endif
bool rests[2], bell[4];
byte owned[2];                      /* the tuple that it has claimed and not emitted, and 1 */
byte out[2 * TUPLES], out_tail[2], out_head[2], promise[2];
#if TUPLES == SLOTS
bool is_done[TUPLES];
#endif
byte lost, got, taken;
bool killed, dead, ended;

#define READY (claimed < tail)
#define HAS_ROOM (tail - head[0] < SLOTS && tail - head[1] < SLOTS)

/* Wakes one that rests, if any does. */
inline wake_one() {
    d_step {
        if
        :: rests[0] -> rests[0] = false; bell[0] = true
        :: !rests[0] && rests[1] -> rests[1] = false; bell[1] = true
        :: else
        fi
    }
}

proctype source() {
    do
    :: tail < TUPLES && HAS_ROOM ->
#if TUPLES > SLOTS
        tail++;
#else
        tail = TUPLES; /* at once */
#endif
        wake_one()
#if TUPLES > SLOTS
    :: tail < TUPLES && !HAS_ROOM ->
        bell[SOURCE] = false;
        wanting = true;
        if
        :: HAS_ROOM
        :: else ->
#ifndef PLANTED_FULL_AND_SILENT
            d_step { bell[0] = true; bell[1] = true };
#endif
            bell[SOURCE]
        fi
#endif
    :: tail == TUPLES -> break
    od;
    taken + lost == TUPLES;
    closed = true;
#ifdef PLANTED_ITS_END_WAKES_ONE
    wake_one()
#else
    d_step { bell[0] = true; bell[1] = true }
#endif
}

/* -- a claimant */

inline promise_and_release(upto) {
    d_step {
        if
        :: promise[me] < upto -> promise[me] = upto; bell[CONSUMER] = true
        :: else
        fi;
        if
        :: head[me] < upto -> head[me] = upto
        :: else
        fi;
#if TUPLES > SLOTS
        if
        :: wanting -> wanting = false; bell[SOURCE] = true
        :: else
        fi
#endif
    }
}

/* One tuple. */
inline claim() {
    d_step {
        if
        :: READY -> claimed++; owned[me] = claimed
        :: else
        fi
    };
    if
    :: owned[me] ->
#ifndef PLANTED_CLAIMS_AND_WAKES_NOBODY
        if
        :: READY -> wake_one()
        :: else
        fi;
#endif
#if TUPLES == SLOTS
        (owned[me] != 1 || is_done[1] || dead);
#endif
        d_step {
            out[TUPLES * me + out_tail[me]] = owned[me] - 1;
            out_tail[me]++;
#if TUPLES == SLOTS
            is_done[owned[me] - 1] = true;
#endif
            owned[me] = 0;
            bell[CONSUMER] = true
        }
    :: else
    fi
}

inline rest() {
    promise_and_release(claimed);
#ifdef PLANTED_LOOKS_BEFORE_IT_RESTS
    if
    :: !READY && !closed -> rests[me] = true; bell[CONSUMER] = true; bell[me]; rests[me] = false
    :: else
    fi;
#else
#ifdef PLANTED_RESTS_IN_SILENCE
    rests[me] = true;
#else
    d_step { rests[me] = true; bell[CONSUMER] = true };
#endif
    if
    :: !READY && !closed -> bell[me]
    :: else
    fi;
#ifndef PLANTED_CLAIMS_WHILE_IT_RESTS
    rests[me] = false
#endif
#endif
}

inline live() {
    do
    :: bell[me] = false;
        if
        :: READY -> claim()
        :: !READY && closed -> break
        :: !READY && !closed -> rest()
        fi
    od;
    promise_and_release(TUPLES)
}

proctype claimant(byte me) {
    live()
}

#if KILLS
proctype mortal(byte me) {
    {
        live()
    } unless {
        atomic { killed ->
            killed = false;
            if
            :: owned[me] -> lost++; is_done[owned[me] - 1] = true; owned[me] = 0
            :: else
            fi;
            dead = true;
            rests[me] = false;
            promise[me] = TUPLES;
            head[me] = TUPLES;
            bell[CONSUMER] = true;
#ifndef PLANTED_DIES_AND_PASSES_NOTHING_ON
            bell[1] = true
#endif
        }
    }
}

active proctype killer() {
    byte kills;
    do
    :: atomic { kills < KILLS && !killed && !ended -> killed = true; kills++ }
    :: break
    od
}
#endif

/* -- the consumer */

#define HAS(claimant_) (out_head[claimant_] < out_tail[claimant_])
#define OUT(claimant_) out[TUPLES * (claimant_) + out_head[claimant_]]

/* Whether another claimant lets an output pass: what it has is looked at behind its word that it rests. */
inline look_at(other_, output_) {
    if
    :: promise[other_] > output_ -> may = true
    :: else ->
#ifdef PLANTED_ITS_OUTPUTS_BEFORE_ITS_REST
        may = !HAS(other_);
        may = may && rests[other_]
    fi
#else
        may = rests[other_]
    fi;
    may = (HAS(other_) -> OUT(other_) > output_ : may)
#endif
}

inline get(claimant_) {
    d_step {
        assert(OUT(claimant_) >= got);
        got = OUT(claimant_) + 1;
        out_head[claimant_]++;
        taken++
    }
}

inline get_unless(claimant_, other_) {
    look_at(other_, OUT(claimant_));
    if
    :: may -> get(claimant_)
    :: else -> bell[CONSUMER]
    fi
}

proctype consumer() {
    bool may;
    do
    :: bell[CONSUMER] = false;
        if
        :: HAS(0) && (HAS(1) -> OUT(0) < OUT(1) : true) -> get_unless(0, 1)
        :: HAS(1) && (HAS(0) -> OUT(1) < OUT(0) : true) -> get_unless(1, 0)
        :: !HAS(0) && !HAS(1) && promise[0] == TUPLES && promise[1] == TUPLES -> break
        :: else -> bell[CONSUMER]
        fi;
        may = false
    od;
    ended = true;
    assert(taken + lost == TUPLES)
}

init {
    atomic {
        run source();
#if KILLS
        run mortal(0);
#else
        run claimant(0);
#endif
        run claimant(1);
        run consumer()
    }
}
