/* What is kept of short values, and for how long.
 *
 * A place belongs to all values of one remainder of their hash. The one in it withstands as many newcomers as it has
 * come more often, but for PATIENCE: so those that come often stay the same objects, also where many others come once.
 * Of the words of a Bible in 16,384 places, 7 of 100 are made anew in either way. Without patience 29 of 100 are the
 * object that came first, which a reader's dictionary has, with it 88; with 4,096 places 6 and 67.
 *
 * There are more places while values come again and do not find a place, up to a bound. A column whose values do not
 * come again is let alone for a while.
 */
#include "memory.h"

#include <stdlib.h>

enum {
    LEAST_PLACES = 1024,  /* 32 KB */
    MOST_PLACES = 16384,  /* 512 KB; with as many values, and rows of them, some 3 MB */
    LINE = 64,            /* bytes of a line of the caches, where no place lies in two */
    FEW = 16,             /* less than one of so many is few */
    LOOKS = 8192,         /* values of a column until it is found out whether they come again */
    RESTS = 16 * LOOKS,   /* those that are let alone if they do not */
};

static Place *new_places(uint64_t count)
{
    size_t size = count * sizeof(Place);
    Place *places = aligned_alloc(LINE, size);
    return places == NULL ? NULL : memset(places, 0, size);
}

static void grow(Memory *memory)
{
    uint64_t count = memory->mask + 1;
    Memory grown = {.places = new_places(2 * count), .mask = 2 * count - 1};
    if (grown.places == NULL)
        return; /* it stays as it is */
    for (Place *place = memory->places; place < memory->places + count; place++)
        if (place->value != NULL)
            *place_of(&grown, (Key){place->key.first, place->key.rest & ~TIMES}) = *place;
    free(memory->places);
    memory->places = grown.places;
    memory->mask = grown.mask;
}

static int is_few(uint32_t count, uint32_t of)
{
    return count < of / FEW;
}

static void note_all(Memory *memory, uint32_t asked, uint32_t missed)
{
    memory->asked += asked;
    memory->missed += missed;
    if (memory->asked < 4 * (memory->mask + 1))
        return;
    int comes_again = !is_few(memory->asked - memory->missed, memory->asked);
    if (comes_again && !is_few(memory->missed, memory->asked) && memory->mask + 1 < MOST_PLACES)
        grow(memory);
    memory->asked = memory->missed = 0;
}

void memory_note(Memory *memory, uint32_t column, uint32_t asked, uint32_t missed)
{
    note_all(memory, asked, missed);
    if (column >= HABITS)
        return;
    Habit *habit = &memory->habits[column];
    habit->asked += asked;
    habit->missed += missed;
    if (habit->asked < LOOKS)
        return;
    if (is_few(habit->asked - habit->missed, habit->asked))
        habit->resting = RESTS;
    habit->asked = habit->missed = 0;
}

int memory_asks(Memory *memory, uint32_t column, uint32_t values)
{
    Habit *habit = column < HABITS ? &memory->habits[column] : NULL;
    if (habit != NULL && habit->resting) {
        habit->resting -= values < habit->resting ? values : habit->resting;
        return 0;
    }
    if (memory->places == NULL && (memory->places = new_places(LEAST_PLACES)) != NULL)
        memory->mask = LEAST_PLACES - 1;
    return memory->places != NULL;
}

void memory_keep(Memory *memory, Key key, PyObject *value, PyObject *row)
{
    Place *place = place_of(memory, key);
    if (place->value != NULL && place->key.rest & TIMES) {
        place->key.rest -= ONCE;
        return;
    }
    place->key = key;
    Py_XSETREF(place->value, Py_NewRef(value));
    Py_XSETREF(place->row, Py_XNewRef(row));
}

void memory_clear(Memory *memory)
{
    for (uint64_t i = 0; memory->places != NULL && i <= memory->mask; i++) {
        Py_XDECREF(memory->places[i].value);
        Py_XDECREF(memory->places[i].row);
    }
    free(memory->places);
    memory->places = NULL;
}
