/* What a generator yields, put into an outbox in one call. */
#include "rows.h"

#include <time.h>

enum { LOOK_EVERY = 16 };

/* How long drawing goes on. The clock is read for every sixteenth value only, as reading it costs more than all else. A
 * coarse clock, where there is one, costs a fifth of that, and is read for each: it shows a generator that takes its time. */
typedef struct {
    double until; /* seconds */
    long coarse;  /* nanoseconds of the coarse clock at the last look */
    int skipped;  /* values since then */
} Span;

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Whether the coarse clock has ticked; always, where there is none. */
static int has_ticked(Span *span)
{
#ifdef CLOCK_MONOTONIC_COARSE
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    int ticked = now.tv_nsec != span->coarse;
    span->coarse = now.tv_nsec;
    return ticked;
#else
    (void)span;
    return 1;
#endif
}

static int is_over(Span *span)
{
    if (!has_ticked(span) && ++span->skipped < LOOK_EVERY)
        return 0;
    span->skipped = 0;
    return seconds_now() >= span->until;
}

/* Puts what the common emit would put: 1, or 0 if that would leave it to Python, or -1 with an error set. */
static int outbox_draw_one(Outbox *self, PyObject *value)
{
    PyObject *row = NULL;
    if (value == Py_None)
        return 0;
    Py_BEGIN_CRITICAL_SECTION(value);
    row = rows_fitting(rows_plain_row(value, self->ports[self->default_port].arity), self->ports[self->default_port].codes);
    Py_END_CRITICAL_SECTION();
    if (row == NULL)
        return PyErr_Occurred() ? -1 : 0;
    int failed;
    Py_BEGIN_CRITICAL_SECTION(self);
    failed = rows_outbox_put(self, self->default_port, row, NULL);
    Py_END_CRITICAL_SECTION();
    return failed ? -1 : 1;
}

/* Draws up to `count` values; the number of those that were put, or -1 with an error set. What comes last and was not
 * put is in `left`; there is nothing if the iterator has ended, which `over` says. */
static Py_ssize_t outbox_draw_all(Outbox *self, PyObject *values, Py_ssize_t count, Span *span, PyObject **left, int *over)
{
    iternextfunc next = Py_TYPE(values)->tp_iternext;
    for (Py_ssize_t drawn = 0; drawn < count;) {
        PyObject *value = next(values);
        if (value == NULL) {
            if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_StopIteration))
                return -1;
            PyErr_Clear();
            *over = 1;
            return drawn;
        }
        int put = self->default_port < 0 ? 0 : outbox_draw_one(self, value);
        if (put == 0) {
            *left = value;
            return drawn;
        }
        Py_DECREF(value);
        if (put < 0)
            return -1;
        if (++drawn == count || rows_waiting(self) >= self->limit || is_over(span))
            return drawn;
    }
    return 0;
}

PyObject *rows_outbox_draw(Outbox *self, PyObject *args)
{
    PyObject *values, *left = NULL;
    Py_ssize_t count;
    double seconds;
    int over = 0;
    if (!PyArg_ParseTuple(args, "Ond", &values, &count, &seconds))
        return NULL;
    if (!PyIter_Check(values)) {
        PyErr_Format(PyExc_TypeError, "an Outbox draws from an iterator, found %R", values);
        return NULL;
    }
    Span span = {.until = seconds_now() + seconds};
    has_ticked(&span); /* from now on */
    Py_ssize_t drawn = outbox_draw_all(self, values, count, &span, &left, &over);
    if (drawn < 0)
        return NULL;
    return Py_BuildValue("(nNN)", drawn, PyBool_FromLong(over), left == NULL ? Py_NewRef(Py_None) : left);
}
