/* Reading rows from bytes; codec.h has their form. */
#include "get.h"

#include "codec.h"

typedef struct {
    PyObject_HEAD
    Memory memory;
} Decoder;

static PyObject *get_row(Input *input, uint32_t arity)
{
    if (arity == VARIES) {
        const char *head = take(input, 4);
        if (head == NULL)
            return NULL;
        memcpy(&arity, head, 4);
    }
    return get_values(input, arity, 0);
}

/* A row if any bit of its mask is set in `mine`, else None. */
static PyObject *get_addressed(Input *input, uint32_t arity, uint64_t mine)
{
    const char *envelope = take(input, ENVELOPE);
    if (envelope == NULL)
        return NULL;
    uint64_t mask;
    uint32_t size;
    memcpy(&mask, envelope, 8);
    memcpy(&size, envelope + 8, 4);
    if (mask & mine)
        return get_row(input, arity);
    return take(input, size) == NULL ? NULL : Py_NewRef(Py_None);
}

/* Rows one by one; or addressed ones, as far as they concern `mine`. */
static PyObject *get_each(Input *input, uint32_t count, uint32_t arity, const uint64_t *mine)
{
    PyObject *rows = PyList_New(count);
    for (uint32_t i = 0; rows != NULL && i < count; i++) {
        PyObject *row = mine == NULL ? get_row(input, arity) : get_addressed(input, arity, *mine);
        if (row == NULL)
            Py_CLEAR(rows);
        else
            PyList_SET_ITEM(rows, i, row);
    }
    return rows;
}

static PyObject *get_rows(Input *input, const uint64_t *mine)
{
    uint32_t head[2];
    const char *at = take(input, sizeof head);
    if (at == NULL)
        return NULL;
    memcpy(head, at, sizeof head);
    if (head[0] > (size_t)(input->end - input->next)) {
        PyErr_SetString(PyExc_ValueError, "there are more encoded rows than bytes");
        return NULL;
    }
    if (mine == NULL && head[1] != VARIES)
        return get_columns(input, head[0], head[1]);
    return get_each(input, head[0], head[1], mine);
}

PyDoc_STRVAR(decode_doc, "decode(buffer, start=0) -> rows: what `encode_rows` made bytes of, which begin there.");

static PyObject *decoded(Decoder *self, PyObject *buffer, Py_ssize_t start, const uint64_t *mine)
{
    Py_buffer view;
    if (PyObject_GetBuffer(buffer, &view, PyBUF_SIMPLE))
        return NULL;
    Input input = {view.buf, (const char *)view.buf + view.len, &self->memory};
    PyObject *rows = take(&input, (size_t)start) == NULL ? NULL : get_rows(&input, mine);
    PyBuffer_Release(&view);
    return rows;
}

static PyObject *decoder_decode(Decoder *self, PyObject *const *args, Py_ssize_t count)
{
    if (count < 1 || count > 2) {
        PyErr_Format(PyExc_TypeError, "decode takes a buffer and where it starts, not %zd arguments", count);
        return NULL;
    }
    Py_ssize_t start = count == 2 ? PyLong_AsSsize_t(args[1]) : 0;
    return start == -1 && PyErr_Occurred() ? NULL : decoded(self, args[0], start, NULL);
}

PyDoc_STRVAR(decode_addressed_doc,
             "decode_addressed(buffer, mine) -> rows: what `encode_addressed` made bytes of, with None in the place of rows\n"
             "whose mask has no bit in common with `mine`.");

static PyObject *decoder_decode_addressed(Decoder *self, PyObject *args)
{
    PyObject *buffer;
    unsigned long long mine;
    if (!PyArg_ParseTuple(args, "OK", &buffer, &mine))
        return NULL;
    return decoded(self, buffer, 0, &(uint64_t){mine});
}

static void decoder_dealloc(Decoder *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    memory_clear(&self->memory);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef decoder_methods[] = {
    {"decode", (PyCFunction)(void (*)(void))decoder_decode, METH_FASTCALL, decode_doc},
    {"decode_addressed", (PyCFunction)decoder_decode_addressed, METH_VARARGS, decode_addressed_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot decoder_slots[] = {
    {Py_tp_doc, "Decoder(): reads encoded rows; for one thread."},
    {Py_tp_dealloc, decoder_dealloc},
    {Py_tp_methods, decoder_methods},
    {0, NULL},
};

PyType_Spec rows_decoder_spec = {"viper._rows.Decoder", sizeof(Decoder), 0, Py_TPFLAGS_DEFAULT, decoder_slots};
