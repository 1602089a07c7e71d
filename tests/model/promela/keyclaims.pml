/* Claimants share tuples by key, as keyclaims.c and BoltTask have it. One of them is killed anywhere, as often as KILLS says.
 *
 * Input.    A source writes TUPLES tuples of two groups into a ring of SLOTS slots that all claimants release. Each claimant
 *           comes to all tuples, in order, and processes those of the groups that it has.
 * Claim.    The word of a group says which tuple of it was come to last, and who has the group. Who comes to a tuple first
 *           exchanges the word: the tuple is the owner's. If nobody has the group, it takes it. It notes the tuple before,
 *           for its successor, and behind the exchange from which tuple on it has the group.
 * Work.     A slice is at most MOST tuples. Each of its claimant's own has one output, into a ring of ROOM slots. A consumer
 *           merges these rings by position and promise. What a slice changes is committed at its end. Then the claimant
 *           gives up each group that it has come to the last tuple of.
 * Exact.    The commit says how many outputs are out, and its slots are released behind it. The successor does the slice
 *           again, and leaves out as many outputs as are out.
 * Best.     A slice is released when it was gone through, and its own tuples are counted as in work before. The successor
 *           counts them as lost, and continues behind.
 * Cut.      A position is decided that nothing was sent behind, as often as CUTS says. Who has committed all before it stands
 *           there. When all stand, each writes its group. When all have written, each continues. A death makes the cut void
 *           for all. At the end of the input all stand, too, and write. An ended claimant counts for each cut.
 *
 * Checked: a group has one at work, whose input is the state that all before it have left; exact has all outputs once and in
 * order, best none twice and all but those that are counted; no slot is read that was filled anew; a completed cut has the
 * state of all before it, and of nothing else; nobody has a group in the end; every run ends.
 */
#ifndef TUPLES
#define TUPLES 3
#endif
#ifndef PATTERN
#define PATTERN 0 /* a bit for each tuple: its group */
#endif
#ifndef CLAIMANTS
#define CLAIMANTS 2
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef CUTS
#define CUTS 0
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef BEST
#define EXACT
#endif
#define ROOM 1
#define MOST 2
#define GROUPS 2
#define ENDED 255
#define GROUP(tuple_) ((PATTERN >> (tuple_)) & 1)
#define BIT(tuple_) (1 << (tuple_))
#define BELOW(tuple_) (BIT(tuple_) - 1)
#define OF_GROUP(group_) ((group_) == 1 -> PATTERN : ~PATTERN)
#if CLAIMANTS == 2
#define EVERY(holds_) (holds_(0) && holds_(1))
#else
#define EVERY(holds_) (holds_(0) && holds_(1) && holds_(2))
#endif

byte tail, in_slot[SLOTS], head[CLAIMANTS];
byte number[GROUPS], owner[GROUPS];               /* one word; an owner is a claimant + 1 */
byte since[GROUPS];
byte taking[CLAIMANTS], taking_group[CLAIMANTS];  /* one word */
byte state[GROUPS];                               /* committed: a bit for each tuple that was processed */
byte at_work[GROUPS];                             /* a claimant + 1 with changes that are not committed */
byte committed[CLAIMANTS], counted[CLAIMANTS];    /* exact: a page */
byte working[CLAIMANTS], lost, missing;           /* best: tuples; as the consumer has found */
byte out_slot[CLAIMANTS * ROOM], out_tail[CLAIMANTS], out_head[CLAIMANTS], promise[CLAIMANTS];
byte stands[CLAIMANTS];                           /* a register: the attempt at whose cut a claimant stands */
bool is_ended[CLAIMANTS];
#if CUTS
byte cut, attempt, wrote[CLAIMANTS], reported[CLAIMANTS], passed[CLAIMANTS], saved[GROUPS];
byte saved_at_end[GROUPS];
bool is_decided;
#endif
bool killed, ended;

#define HAS_ROOM_FOR(claimant_) (tail - head[claimant_] < SLOTS)

active proctype source() {
    do
    :: d_step { tail < TUPLES && EVERY(HAS_ROOM_FOR) -> in_slot[tail % SLOTS] = tail; tail++ }
    :: tail == TUPLES -> break
    od
}

/* -- the words of groups */

inline come_to() {
    atomic { group = GROUP(past); assert(in_slot[past % SLOTS] == past); found = number[group]; whose = owner[group] };
    do
#ifdef PLANTED_COME_TO_TWICE
    :: atomic { found > past && whose -> mine = mine | (whose == me + 1 -> BIT(past) : 0); break }
    :: atomic { found <= past || !whose -> skip };
#else
#ifdef PLANTED_SINCE_FORGOTTEN
    :: atomic { found > past -> mine = mine | (whose == me + 1 -> BIT(past) : 0); break }
#else
    :: atomic { found > past -> mine = mine | (whose == me + 1 && since[group] <= past -> BIT(past) : 0); break }
#endif
    :: atomic { found <= past -> skip };
#endif
        if
#ifndef PLANTED_TAKING_FORGOTTEN
        :: atomic { !whose -> taking[me] = past; taking_group[me] = group }
        :: whose
#else
        :: true
#endif
        fi;
        if
        :: atomic { number[group] == found && owner[group] == whose ->
               number[group] = past + 1; owner[group] = (whose -> whose : me + 1) };
           if
           :: atomic { !whose -> since[group] = past; has = has | BIT(group); mine = mine | BIT(past) }
           :: atomic { whose -> mine = mine | (whose == me + 1 -> BIT(past) : 0) }
           fi;
           break
        :: atomic { number[group] != found || owner[group] != whose -> found = number[group]; whose = owner[group] }
        fi
    od;
    atomic { past++; found = 0; whose = 0; group = 0 }
}

inline give_up() {
    do
    :: group < GROUPS && !(has & BIT(group)) -> group++
    :: atomic { group < GROUPS && (has & BIT(group)) -> found = number[group] };
        if
        :: found > past
#ifdef PLANTED_GIVEN_UP_BY_A_STORE
        :: d_step { found <= past -> number[group] = found; owner[group] = 0; has = has & ~BIT(group) }
#else
        :: d_step { found <= past && number[group] == found -> owner[group] = 0; has = has & ~BIT(group) }
        :: found <= past && number[group] != found /* another has come to a later tuple */
#endif
        fi;
        d_step { group++; found = 0 }
    :: group == GROUPS -> break
    od;
    group = 0
}

/* -- a slice */

#define RAISE(position_) if :: promise[me] < position_ -> promise[me] = position_ :: else fi

#if CUTS
#define COMES_TO_CUT(position_) (is_decided && passed[me] != attempt && cut <= (position_))
#else
#define COMES_TO_CUT(position_) false
#endif

inline take() {
    do
    :: past < first + MOST && tail > past && !COMES_TO_CUT(past) -> come_to()
    :: past > first -> break
    od
}

inline process() {
    d_step {
        group = GROUP(at);
        assert(at_work[group] == 0 || at_work[group] == me + 1);
        at_work[group] = me + 1;
        found = state[group] | (made & OF_GROUP(group));
        assert((found & ~BELOW(at)) == 0);
#ifdef EXACT
        assert(found == (OF_GROUP(group) & BELOW(at)));
#endif
        made = made | BIT(at);
        found = 0;
        group = 0
    }
}

inline emit() {
    d_step {
        if
#if defined(EXACT) && KILLS
        :: to_skip -> to_skip--
#endif
        :: !to_skip && out_tail[me] - out_head[me] < ROOM -> out_slot[ROOM * me + out_tail[me] % ROOM] = at; out_tail[me]++
        fi;
        at++
    }
}

inline commit() {
    atomic {
        do
        :: group < GROUPS ->
            state[group] = state[group] | (made & OF_GROUP(group));
            at_work[group] = (at_work[group] == me + 1 -> 0 : at_work[group]);
            group++
        :: else -> break
        od;
        group = 0;
        made = 0;
        mine = 0;
#ifdef EXACT
        committed[me] = past;
        counted[me] = out_tail[me] - to_skip
#else
        working[me] = 0
#endif
    }
}

inline work() {
#ifndef EXACT
    d_step {
        do
        :: at < past -> working[me] = working[me] + (mine & BIT(at) -> 1 : 0); at++
        :: else -> break
        od;
        at = first
    };
    head[me] = past;
#endif
    do
    :: at < past && (mine & BIT(at)) -> process(); atomic { emit(); RAISE(at) }
    :: d_step { at < past && !(mine & BIT(at)) -> at++ }
    :: at == past -> break
    od;
#ifdef PLANTED_STANDS_BEFORE_ITS_COMMIT
    if
    :: COMES_TO_CUT(past) -> stands[me] = attempt
    :: else
    fi;
#endif
#ifdef PLANTED_STANDS_AT_THE_END_BEFORE_ITS_COMMIT
    if
    :: past == TUPLES && !COMES_TO_CUT(past) -> stands[me] = ENDED
    :: else
    fi;
#endif
#ifdef PLANTED_GIVEN_UP_BEFORE_THE_COMMIT
    give_up();
#endif
    commit();
#ifdef EXACT
    head[me] = past;
#endif
    give_up();
    d_step { first = past; at = past; RAISE(past) }
}

/* -- among others */

#if CUTS
#define IS_WANTED (is_decided && attempt == standing)
#define STANDS(claimant_) (stands[claimant_] >= standing)
#define HAS_WRITTEN(claimant_) (wrote[claimant_] >= standing)

#ifdef PLANTED_CONTINUES_BEFORE_ALL_HAVE_WRITTEN
#define MAY_CONTINUE true
#else
#define MAY_CONTINUE (!IS_WANTED || EVERY(HAS_WRITTEN))
#endif

/* Writes the group of its own number, if there is one, as it would have if tuples were dealt out. */
#define WRITE(where_) if :: me < GROUPS -> where_[me] = state[me] :: else fi

inline stand() {
    standing = attempt;
    stands[me] = standing;
    if
    :: !IS_WANTED
    :: IS_WANTED && EVERY(STANDS) ->
        d_step { WRITE(saved); reported[me] = standing };
        wrote[me] = standing;
        MAY_CONTINUE
    fi;
    d_step { passed[me] = standing; standing = 0 }
}
#else
#define WRITE(where_)
#endif

#define STANDS_AT_END(claimant_) (stands[claimant_] == ENDED)
#ifdef PLANTED_ENDS_BEFORE_OTHERS
#define MAY_END true
#else
#define MAY_END EVERY(STANDS_AT_END)
#endif

#if KILLS
inline take_over() {
    d_step {
        found = 0; whose = 0; group = 0; mine = 0; made = 0; has = 0; to_skip = 0; standing = 0;
#if CUTS
        is_decided = false;
#endif
#ifdef EXACT
        past = committed[me];
#ifndef PLANTED_DONE_AGAIN_FROM_THE_FIRST_OUTPUT
        to_skip = out_tail[me] - counted[me];
#endif
#else
        past = head[me];
#ifndef PLANTED_PASSED_OVER_AND_NOT_COUNTED
        lost = lost + working[me];
#endif
        working[me] = 0;
#endif
        first = past;
        at = past;
        do
        :: group < GROUPS -> at_work[group] = (at_work[group] == me + 1 -> 0 : at_work[group]); group++
        :: else -> break
        od;
        group = 0
    };
#ifdef EXACT
    head[me] = past;
#endif
    d_step {
        do
        :: group < GROUPS && owner[group] == me + 1 ->
            has = has | BIT(group);
#ifndef PLANTED_TAKING_FORGOTTEN
            since[group] = (taking_group[me] == group -> taking[me] : since[group]);
#endif
            group++
        :: group < GROUPS && owner[group] != me + 1 -> group++
        :: group == GROUPS -> break
        od;
        group = 0
    };
#ifdef PLANTED_SUCCESSOR_DOES_NOT_GIVE_UP
    has = 0;
#endif
    give_up();
    RAISE(past)
}
#endif

inline live() {
    do
    :: tail > past && !COMES_TO_CUT(past) -> take(); work()
#if CUTS
    :: atomic { COMES_TO_CUT(past) -> stand() }
#endif
    :: atomic { past == TUPLES && !STANDS_AT_END(me) && !COMES_TO_CUT(past) -> stands[me] = ENDED }
    :: atomic { STANDS_AT_END(me) && MAY_END ->
           WRITE(saved_at_end); is_ended[me] = true; break }
    od
}

#define MEMORY \
    byte past, first, at, mine, made; \
    byte group, found, whose, has, to_skip, standing

proctype claimant(byte me) {
    MEMORY;
    live()
}

#if KILLS
proctype mortal(byte me) {
    MEMORY;
again:
    {
        take_over();
        live()
    } unless {
        atomic { killed && !is_ended[me] -> killed = false; goto again }
    }
}

active proctype killer() {
    byte kills;
    do
    :: atomic { kills < KILLS && !killed && !is_ended[0] -> killed = true; kills++ }
    :: break
    od
}
#endif

/* -- the cut */

#if CUTS
#define HAS_REPORTED(claimant_) (reported[claimant_] == attempt || is_ended[claimant_])
#define SAVED(group_) (reported[group_] == attempt -> saved[group_] : saved_at_end[group_])
#define LEFT_OUT(group_, tuple_) (((BELOW(cut) & OF_GROUP(group_) & ~SAVED(group_)) >> (tuple_)) & 1)

active proctype leader() {
    byte group, tuple, left_out;
    do
    :: atomic { attempt < CUTS && !is_decided && !ended ->
           if
           :: cut = tail
           :: cut = TUPLES
           fi;
           attempt++;
           is_decided = true }
    :: d_step { is_decided && EVERY(HAS_REPORTED) ->
           do
           :: group < GROUPS ->
               assert((SAVED(group) & ~(BELOW(cut) & OF_GROUP(group))) == 0);
               do
               :: tuple < TUPLES -> left_out = left_out + LEFT_OUT(group, tuple); tuple++
               :: else -> break
               od;
               tuple = 0;
               group++
           :: else -> break
           od;
           assert(left_out <= lost + working[0]);
           group = 0;
           left_out = 0;
           is_decided = false }
    :: !is_decided -> break
    od
}
#endif

/* -- the consumer */

#define HAS_OUTPUT(claimant_) (out_tail[claimant_] > out_head[claimant_])
#define OUTPUT(claimant_) out_slot[ROOM * (claimant_) + out_head[claimant_] % ROOM]
#define BOUND(claimant_) (HAS_OUTPUT(claimant_) -> OUTPUT(claimant_) : promise[claimant_])
#define IS_BEHIND(claimant_) (BOUND(claimant_) > got || (BOUND(claimant_) == got && HAS_OUTPUT(claimant_)))
#define IS_THROUGH(claimant_) (!HAS_OUTPUT(claimant_) && promise[claimant_] == TUPLES)
#define IS_ENDED(claimant_) is_ended[claimant_]

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
#if CLAIMANTS == 2
    :: HAS_OUTPUT(0) && BOUND(1) > OUTPUT(0) -> get(0)
    :: HAS_OUTPUT(1) && BOUND(0) > OUTPUT(1) -> get(1)
#else
    :: HAS_OUTPUT(0) && BOUND(1) > OUTPUT(0) && BOUND(2) > OUTPUT(0) -> get(0)
    :: HAS_OUTPUT(1) && BOUND(0) > OUTPUT(1) && BOUND(2) > OUTPUT(1) -> get(1)
    :: HAS_OUTPUT(2) && BOUND(0) > OUTPUT(2) && BOUND(1) > OUTPUT(2) -> get(2)
#endif
    :: EVERY(IS_THROUGH) -> break
    od;
    missing = missing + TUPLES - got;
    assert(missing <= lost);
    EVERY(IS_ENDED);
    ended = true;
    assert(owner[0] == 0 && owner[1] == 0)
}

init {
    atomic {
#if KILLS
        run mortal(0);
#else
        run claimant(0);
#endif
        run claimant(1);
#if CLAIMANTS == 3
        run claimant(2);
#endif
        run consumer()
    }
}
