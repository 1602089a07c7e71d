/* What an inbox knows, for the code that reads pieces and the code that makes records of rows. */
#ifndef VIPER_INBOX_H
#define VIPER_INBOX_H

#include "rows/rows.h"
#include "state.h"

typedef struct {
    PyObject_HEAD
    PyTypeObject *record; /* a named tuple of (id, component, stream, task, values) */
    Scope *scope;         /* of the state that the component keeps; NULL: it keeps none */
    Outbox *outbox;       /* whose length is noted after each record; NULL: nothing is emitted */
    PyObject *pieces;     /* list of (rows, first, count, head) and of (rows, first, count, heads, which) */
    Py_ssize_t next_piece;
    PyObject *piece;      /* the one that is read now; what follows is borrowed from it */
    PyObject *rows;
    PyObject *head;       /* (component, stream, task, values class or None, ...) */
    PyTypeObject *values; /* NULL: the plain row */
    Py_ssize_t beside;    /* how many values at the end of a row are not the stream's */
    int is_sealed;        /* whether nobody can change the values of the rows */
    PyObject *heads;      /* tuple of such heads, where the rows come from several streams */
    const uint16_t *which; /* then, the index of each row's head; else NULL */
    PyObject *checked;    /* the heads that were looked at last, and found right; NULL: none */
    Py_ssize_t next, stop;
    uint64_t last_id;     /* number of the latest record's id */
    Py_ssize_t handed;    /* records since the last load */
    uint32_t *marks; /* length of the outbox after each record since the last cut */
    Py_ssize_t mark_count, mark_capacity;
    Py_ssize_t pause_at; /* length of the outbox at which reading pauses between two records */
    PyObject *spare[2];   /* the last two records, to be used again if nobody else has them; NULL: none */
    int reuses;           /* whether records are ever used again */
    int open;            /* whether a record is out whose mark is not noted yet */
    int paused;          /* whether the last iteration ended for a full outbox, with records left */
} Inbox;

/* Whether an object is an Inbox. */
int rows_is_inbox(PyObject *candidate);

/* Whether instances of a tuple class are their items and nothing else, and nothing happens when they go. */
int rows_is_bare(PyTypeObject *type);

/* The record of a row, whose head is the inbox's; NULL with an error set. */
PyObject *rows_record(Inbox *self, PyObject *row);

#endif
