/* The extension module viper._rows. */
#include "rows.h"

static int add_type(PyObject *module, const char *name, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    int failed = type == NULL || PyModule_AddObjectRef(module, name, type);
    Py_XDECREF(type);
    return failed ? -1 : 0;
}

static int rows_exec(PyObject *module)
{
    int failed = add_type(module, "Outbox", &rows_outbox_spec) || add_type(module, "Inbox", &rows_inbox_spec) ||
                 add_type(module, "Decoder", &rows_decoder_spec);
    return failed ? -1 : 0;
}

static PyMethodDef rows_methods[] = {
    {"is_plain", rows_is_plain, METH_O, "is_plain(value) -> bool: whether a value is exactly immutable."},
    {"kept", rows_kept, METH_O,
     "kept(value) -> object: the value itself if it is immutable, else a copy that nobody else has."},
    {"plain_rows", rows_plain_rows, METH_VARARGS,
     "plain_rows(rows, arity, first, made) -> int: append the rows of a list, from index `first` on, as tuples to\n"
     "the list `made`, up to one that is no list or tuple of exactly immutable values, or not of so many (-1: any\n"
     "number); returns its index, or how many rows there are."},
    {"ends", rows_ends, METH_VARARGS,
     "ends(of, count) -> bytes | None: for each of so many inputs how many outputs there are up to it, as native\n"
     "uint32, where `of` has the input of each output; None where `of` does not ascend."},
    {"encode_rows", rows_encode, METH_O,
     "encode_rows(rows) -> bytes | None: a list of row tuples as bytes; None where a value is not exactly\n"
     "immutable or of a rarer type."},
    {"partition", rows_partition, METH_VARARGS,
     "partition(rows, targets, parts) -> list of lists: row i goes to part targets[i] (native uint16);\n"
     "a target past the last part drops its row."},
    {"interleave", rows_interleave, METH_VARARGS,
     "interleave(lists, firsts, chosen) -> list: the next row of list chosen[i] (native uint16), for all i;\n"
     "of each list the rows from the index in firsts on."},
    {"misfit", rows_misfit, METH_VARARGS,
     "misfit(rows, arity) -> int | None: index of the first that is no tuple of so many values (-1: any number)."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot rows_slots[] = {
    {Py_mod_exec, rows_exec},
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef rows_module = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "viper._rows", .m_methods = rows_methods, .m_slots = rows_slots};

PyMODINIT_FUNC PyInit__rows(void)
{
    return PyModuleDef_Init(&rows_module);
}
