/* Two claimants share the tuples of two sources, as claims.h has it. One of them is killed anywhere, as often as KILLS says.
 *
 * Input.    Each source writes its tuples once, into a ring of SLOTS slots that both claimants release. The sources take
 *           turns, so a tuple's number is its position. A claimant counts what it has come past in each ring.
 * Claim.    One word says where the last claim ends, and whose it is. Who wants the next tuples has seen that they are
 *           ready. It notes the end of the last claim for its claimant, notes where its own begins, exchanges the word, and
 *           notes where its own ends. Who has lost the exchange leaves out what is claimed, and tries again.
 * Work.     One output for each tuple, at its position, into a ring of ROOM slots. A consumer merges the rings by position;
 *           it needs the promise of a claimant whose ring is empty.
 * Promise.  The least position at which an output may still come: in a claim that of the tuple in work, without one that of
 *           the first tuple that the claimant has not come past.
 * Exact.    A claim is committed by one store, behind its last output, and released after that. The successor does again
 *           what is claimed and not committed, and leaves out as many outputs as are out.
 * Best.     A claim is released when it has been seen. The successor does a claim of which nothing was seen; of another one
 *           the tuples that were in work are counted as lost.
 * Cut.      At any time a position is decided that nobody has sent anything at. Each claimant says that it is there once it
 *           is done with all of its own below, and commits there, also in the midst of a claim.
 *
 * Checked: the consumer gets the outputs in order, exact all of them and once, best none twice and all but those that are
 * counted as lost; no slot is read that was filled anew; what lies below a cut is done when both are there; every run ends.
 */
#ifndef TUPLES
#define TUPLES 3
#endif
#ifndef KILLS
#define KILLS 1
#endif
#define SLOTS 1
#define ROOM 1
#ifndef BEST
#define EXACT
#endif
#define MOST 2 /* tuples of a claim */
#define ALL TUPLES
#define OF_SOURCE(source_) ((TUPLES + 1 - (source_)) / 2)
#define NONE 255

byte tail[2], in_slot[2 * SLOTS];    /* of each source */
byte head[4];                        /* of each claimant and source: tuples that it has released */
byte claimed, claimed_by;            /* one word */
byte claim[2], claim_end[2], seen[2], working[2]; /* as in the gate */
byte committed[2], counted[2];       /* a claimant's page: tuples that it is done with, and their outputs */
byte out_slot[2 * ROOM], out_tail[2], out_head[2], promise[2];
#ifdef CUT
byte cut = NONE;
bool at_cut[2], is_done[ALL];
#endif
byte lost, missing;                  /* tuples: as counted; as the consumer has found */
bool killed, ended;

#define HEAD(claimant_, source_) head[2 * (claimant_) + (source_)]
#define SLOT(source_, tuple_) in_slot[SLOTS * (source_) + (tuple_) % SLOTS]

#ifdef PLANTED_ROOM_OF_ONE_CLAIMANT
#define HAS_ROOM(source_) (tail[source_] - HEAD(1, source_) < SLOTS)
#else
#define HAS_ROOM(source_) (tail[source_] - HEAD(0, source_) < SLOTS && tail[source_] - HEAD(1, source_) < SLOTS)
#endif

proctype source(byte me) {
    do
    :: d_step { tail[me] < OF_SOURCE(me) && HAS_ROOM(me) -> SLOT(me, tail[me]) = 2 * tail[me] + me; tail[me]++ }
    :: tail[me] == OF_SOURCE(me) -> break
    od
}

/* -- a claimant: past[] is what it has come past in each ring */

#define NUMBER (past[0] + past[1])
#define WINNER (past[0] <= past[1] -> 0 : 1)
#define NEXT (past[0] <= past[1] -> 2 * past[0] : 2 * past[1] + 1)
#define READY (past[0] <= past[1] -> tail[0] > past[0] : tail[1] > past[1])
#define OTHERS_BEFORE (NUMBER < end -> begin : claimed)

inline advance() {
    assert(SLOT(WINNER, past[WINNER]) == NEXT); /* else it was filled anew */
    if
    :: past[0] <= past[1] -> past[0]++
    :: else -> past[1]++
    fi
}

inline note(whose_, end_) {
#ifdef PLANTED_END_NOT_NOTED_FOR_OTHERS
    d_step {
        if
        :: whose_ == me && claim_end[whose_] < end_ -> claim_end[whose_] = end_
#else
    d_step {
        if
        :: claim_end[whose_] < end_ -> claim_end[whose_] = end_
#endif
        :: else
        fi
    }
}

/* What is left of the last claim, or what is ready: from `first` to `till`. */
inline take() {
    first = NUMBER;
    is_own = first < end;
    do
    :: NUMBER < first + MOST && READY && (!is_own || NUMBER < end) -> advance()
    :: NUMBER > first -> break
    od;
    till = NUMBER;
    last = claimed;
    whose = claimed_by;
    won = is_own
}

/* Of that what nobody has claimed. */
inline exchange() {
    do
    :: last < till && !won ->
        note(whose, last);
#ifndef PLANTED_BEGIN_NOT_NOTED
        claim[me] = last;
#endif
        d_step {
#ifdef PLANTED_CLAIMED_WITHOUT_A_COMPARISON
            won = true; claimed = till; claimed_by = me; first = last
#else
            if
            :: claimed == last && claimed_by == whose -> won = true; claimed = till; claimed_by = me; first = last
            :: else -> last = claimed; whose = claimed_by
            fi
#endif
        }
    :: else -> break
    od;
    atomic {
        if
        :: won && !is_own -> note(me, till); begin = first; end = till
#if KILLS
        :: won && is_own
#endif
        :: !won -> first = till
        fi;
        last = 0;
        whose = 0
    }
}

#define RAISE(position_) if :: promise[me] < position_ -> promise[me] = position_ :: else fi

/* All of it below `at` is done with; one store. */
inline commit() {
#ifdef EXACT
    d_step {
        do
        :: committed[me] < at ->
#ifdef CUT
            if
            :: committed[me] >= begin -> is_done[committed[me]] = true
            :: else
            fi;
#endif
            committed[me]++
        :: else -> break
        od;
        counted[me] = out_tail[me] - to_skip
    }
#else
    true
#endif
}

inline emit() {
    atomic {
        if
#if defined(EXACT) && KILLS
        :: to_skip -> to_skip--
#endif
        :: !to_skip && out_tail[me] - out_head[me] < ROOM -> out_slot[ROOM * me + out_tail[me] % ROOM] = at; out_tail[me]++
        fi;
#if defined(CUT) && !defined(EXACT)
        is_done[at] = true;
#endif
        at++;
        RAISE(at)
    }
}

#ifdef CUT
#define STANDS_AT_CUT(position_) (cut <= (position_) && !at_cut[me])
#else
#define STANDS_AT_CUT(position_) false
#endif

#ifdef PLANTED_AT_THE_CUT_BEFORE_ITS_CLAIM_IS
#define REACHED till
#else
#define REACHED at
#endif

inline work() {
    atomic {
        at = first;
#ifdef PLANTED_PROMISED_BEFORE_THE_END
        RAISE(till)
#else
        RAISE(first)
#endif
    };
#ifdef PLANTED_COMMITTED_BEFORE_THE_OUTPUT
    d_step { at = till; commit(); at = first };
#endif
    do
    :: at < till && !STANDS_AT_CUT(REACHED) -> emit()
#ifdef CUT
    :: at < till && STANDS_AT_CUT(REACHED) -> commit(); at_cut[me] = true
#endif
    :: at == till -> break
    od;
    commit()
}

/* Afterwards nothing of them is to be done again. */
inline give_back() {
    HEAD(me, 0) = past[0];
    HEAD(me, 1) = past[1]
}

inline work_on_it() {
    exchange();
    if
    :: first < till ->
#ifdef EXACT
#ifdef PLANTED_RELEASED_AT_TAKE
        give_back();
#endif
        work();
#else
#ifdef PLANTED_SEEN_BEFORE_COUNTED
        seen[me] = till;
        working[me] = till - first;
#else
        working[me] = till - first;
        seen[me] = till;
#endif
        give_back();
        work();
        working[me] = 0;
#endif
    :: else
    fi;
    d_step { first = 0; till = 0; at = 0; won = false; is_own = false }
}

inline take_over() {
    d_step {
        first = 0; till = 0; at = 0; last = 0; whose = 0; won = false; is_own = false; to_skip = 0; begin = 0; end = 0;
        past[0] = HEAD(me, 0); past[1] = HEAD(me, 1)
    };
#ifdef EXACT
    seen[me] = committed[me];
#ifndef PLANTED_DONE_AGAIN_FROM_THE_FIRST_OUTPUT
    to_skip = out_tail[me] - counted[me];
#endif
#else
#ifdef PLANTED_PASSED_OVER_AND_NOT_COUNTED
    working[me] = 0;
#else
    d_step { lost = lost + working[me]; working[me] = 0 };
#endif
#endif
    d_step { last = claimed; whose = claimed_by };
    note(whose, last);
    d_step {
        end = claim_end[me];
        begin = (claim[me] > seen[me] -> claim[me] : seen[me]);
        begin = (begin < end -> begin : end);
        last = 0; whose = 0
    }
}

/* With nothing to take: gives back what others have claimed, and promises. */
#ifdef PLANTED_PROMISES_ONLY_ITS_WORK
#define MAY_PROMISE (NEXT == ALL)
#else
#define MAY_PROMISE true
#endif
#ifdef PLANTED_KEEPS_WHAT_OTHERS_CLAIMED
#define MAY_RELEASE (NEXT == ALL)
#else
#define MAY_RELEASE true
#endif
#define IS_BEHIND (HEAD(me, 0) < past[0] || HEAD(me, 1) < past[1])

#ifdef CUT
#define END_OF_CLAIMANT at_cut[me] = true
#else
#define END_OF_CLAIMANT true
#endif

inline live() {
    take_over();
    do
    :: atomic { NUMBER < OTHERS_BEFORE && READY -> advance() }
    :: atomic { NUMBER >= OTHERS_BEFORE && READY && !STANDS_AT_CUT(NEXT) -> take() };
        work_on_it()
    :: atomic { IS_BEHIND && MAY_RELEASE -> give_back() }
    :: atomic { promise[me] < NEXT && MAY_PROMISE -> promise[me] = NEXT }
#ifdef CUT
    :: atomic { STANDS_AT_CUT(NEXT) -> at_cut[me] = true }
#endif
    :: NEXT == ALL && promise[me] == ALL && !IS_BEHIND && !STANDS_AT_CUT(ALL) -> END_OF_CLAIMANT; break
    od
}

#define MEMORY \
    byte past[2]; \
    byte begin, end, first, till, at, to_skip, last, whose; \
    bool won, is_own

proctype claimant(byte me) {
    MEMORY;
    live()
}

#if KILLS
proctype mortal(byte me) {
    MEMORY;
again:
    {
        live()
    } unless {
        atomic { killed -> killed = false; goto again }
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

/* -- the cut: behind all that was sent */

#define BEHIND(source_) (2 * tail[source_] + (source_))

#ifdef CUT
proctype cutter() {
    byte position, not_done;
    if
    :: d_step { !ended -> cut = (BEHIND(0) > BEHIND(1) -> BEHIND(0) : BEHIND(1)); cut = (cut < ALL -> cut : ALL) }
    :: cut = ALL
    fi;
    at_cut[0] && at_cut[1];
    d_step {
        do
        :: position < cut && !is_done[position] -> not_done++; position++
        :: position < cut && is_done[position] -> position++
        :: position == cut -> break
        od;
        assert(not_done <= lost + working[0]);
        position = 0;
        not_done = 0
    }
}
#endif

/* -- the consumer */

#define HAS_OUTPUT(claimant_) (out_tail[claimant_] > out_head[claimant_])
#define OUTPUT(claimant_) out_slot[ROOM * (claimant_) + out_head[claimant_] % ROOM]
#define BOUND(claimant_) (HAS_OUTPUT(claimant_) -> OUTPUT(claimant_) : promise[claimant_])

inline get(claimant_) {
    d_step {
#ifdef EXACT
        assert(OUTPUT(claimant_) == got);
#else
        assert(OUTPUT(claimant_) >= got);
#endif
        missing = missing + OUTPUT(claimant_) - got;
        got = OUTPUT(claimant_) + 1;
        out_head[claimant_]++
    }
}

proctype consumer() {
    byte got;
    do
    :: HAS_OUTPUT(0) && BOUND(1) > OUTPUT(0) -> get(0)
    :: HAS_OUTPUT(1) && BOUND(0) > OUTPUT(1) -> get(1)
    :: !HAS_OUTPUT(0) && !HAS_OUTPUT(1) && promise[0] == ALL && promise[1] == ALL -> break
    od;
    ended = true;
    missing = missing + ALL - got;
    assert(missing <= lost)
}

init {
    atomic {
        run source(0);
        run source(1);
#if KILLS
        run mortal(0);
#else
        run claimant(0);
#endif
        run claimant(1);
#ifdef CUT
        run cutter();
#endif
        run consumer()
    }
}
