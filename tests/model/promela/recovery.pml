/* A task between two rings that is killed anywhere, as often as KILLS says, also while it takes a slice back.
 *
 * Page.      The task's state, its place in the input, and how many outputs count, are words that outlive it.
 *            Each is written behind an entry of the undo log: the entry, the log's length, then the word.
 * Slice.     Takes some inputs, processes them, publishes at will and then the rest, writes place and count,
 *            and is committed by one store: the length is 0. Only then is the input given back.
 * Successor. Waits until all that its predecessor stored can be seen, plays the log back, gives back what is
 *            committed, and skips the outputs that are out there and do not count yet. Its slices may be
 *            longer or shorter than the ones that it repeats.
 *
 * Input i adds i to the state, which is then emitted: once if it is even, twice if it is odd.
 *
 * Checked: no slot is read that was filled anew; the consumer gets what it gets when nobody is killed, and
 * nothing else; every run ends.
 */
#ifndef TUPLES
#define TUPLES 3
#define SLOTS 2
#define KILLS 2
#endif
#define MOST_TAKEN 2
#define MOST_OUTPUTS (2 * TUPLES)

#define PROCESSES 3
#define PRODUCER 0
#define TASK 1
#define CONSUMER 2

#define IN_TAIL 0
#define IN_HEAD 1
#define OUT_TAIL 2
#define OUT_HEAD 3
#define WORDS 4
#include "memory.inc"

byte in_slot[SLOTS], out_slot[SLOTS]; /* filled before a tail covers them */
byte expected[MOST_OUTPUTS], outputs; /* without a kill */
bool killed;

/* The page and its log. Nobody else looks at them while the task lives, so a store is seen at once. */
#define STATE 0
#define CURSOR 1
#define COUNT 2
#define ENTRIES (MOST_TAKEN + 2)
byte page[3], length;
byte entry_at[ENTRIES], entry_before[ENTRIES];

proctype producer(byte me) {
    byte sent;
    do
    :: sent < TUPLES ->
        sent - word[IN_HEAD] < SLOTS;
        d_step { in_slot[sent % SLOTS] = sent + 1; sent++ };
        STORE(IN_TAIL, sent)
    :: else -> break
    od
}

/* -- the page */

inline note_entry(number_, at_) {
    d_step { entry_at[number_] = at_; entry_before[number_] = page[at_] }
}

inline write(at_, value_) {
#ifdef PLANTED_LENGTH_BEFORE_ENTRY
    length++;
    note_entry(length - 1, at_);
    page[at_] = value_
#else
    note_entry(length, at_);
#ifdef PLANTED_WORD_BEFORE_LENGTH
    page[at_] = value_;
    length++
#else
    length++;
    page[at_] = value_
#endif
#endif
}

/* Who dies here leaves entries that are played back once more, with the same outcome. */
inline play_back() {
    do
    :: length ->
        page[entry_at[length - 1]] = entry_before[length - 1];
        length--
    :: else -> break
    od
}

/* -- the task */

inline take_over() {
    d_step {
        cursor = 0; published = 0; placed = 0; to_skip = 0;
        box[0] = 0; box[1] = 0; box[2] = 0; box[3] = 0
    };
#ifndef PLANTED_STORES_NOT_AWAITED
    FENCE;
#endif
#ifdef PLANTED_NOT_PLAYED_BACK
    length = 0;
#else
    play_back();
#endif
    cursor = page[CURSOR];
    d_step {
        published = page[COUNT];
        placed = published;
        to_skip = word[OUT_TAIL] - published
    };
#ifndef PLANTED_HEAD_LEFT_AS_IT_WAS
    STORE(IN_HEAD, cursor)
#endif
}

inline place(value_) {
    box[placed % (2 * MOST_TAKEN)] = value_;
    placed++
}

/* Publishes what waits, but for what is out there already. */
inline flush() {
    do
    :: published != placed && to_skip -> d_step { to_skip--; published++ }
    :: published != placed && !to_skip ->
        published - word[OUT_HEAD] < SLOTS;
        d_step { out_slot[published % SLOTS] = box[published % (2 * MOST_TAKEN)]; published++ };
        STORE(OUT_TAIL, published)
    :: published == placed -> break
    od
}

inline process_one() {
    d_step {
        assert(in_slot[cursor % SLOTS] == cursor + 1); /* else it was given back */
        cursor++;
        taken++
    };
#ifdef PLANTED_RELEASED_AT_TAKE
    STORE(IN_HEAD, cursor);
#endif
    write(STATE, page[STATE] + cursor);
    d_step {
        place(page[STATE]);
        if
        :: page[STATE] % 2 -> place(page[STATE])
        :: else
        fi
    }
}

inline commit() {
    write(CURSOR, cursor);
#ifdef PLANTED_RAW_RING_COUNT
    write(COUNT, published + to_skip);
#else
    write(COUNT, published);
#endif
    length = 0
}

inline slice() {
    word[IN_TAIL] != cursor;
    do
    :: taken < MOST_TAKEN && word[IN_TAIL] != cursor ->
        process_one();
        if
        :: flush()
        :: skip
        fi
    :: taken -> break
    od;
    taken = 0;
#ifdef PLANTED_COMMIT_BEFORE_FLUSH
    commit();
    flush();
#else
    flush();
#ifdef PLANTED_RELEASED_BEFORE_COMMIT
    STORE(IN_HEAD, cursor);
#endif
    commit();
#endif
    STORE(IN_HEAD, cursor)
}

proctype task(byte me) {
    byte cursor, published, placed, to_skip, taken;
    byte box[2 * MOST_TAKEN]; /* what is placed and not published, by number */
again:
    taken = 0;
    {
        take_over();
        do
        :: cursor < TUPLES -> slice()
        :: else -> break
        od;
        assert(published == outputs && word[IN_TAIL] == TUPLES)
    } unless {
        atomic { killed -> killed = false; goto again }
    }
}

active proctype killer() {
    byte kills;
    do
    :: atomic { kills < KILLS && !killed -> killed = true; kills++ }
    :: break
    od
}

proctype consumer(byte me) {
    byte got;
    do
    :: got < outputs ->
        word[OUT_TAIL] != got;
        d_step { assert(out_slot[got % SLOTS] == expected[got]); got++ };
        STORE(OUT_HEAD, got)
    :: else -> break
    od
}

inline expect(value_) {
    expected[outputs] = value_;
    outputs++
}

init {
    byte input, state;
    d_step {
        do
        :: input < TUPLES ->
            input++;
            state = state + input;
            expect(state);
            if
            :: state % 2 -> expect(state)
            :: else
            fi
        :: else -> break
        od
    };
    atomic { run producer(PRODUCER); run task(TASK); run consumer(CONSUMER) }
}
