/* Values that may cross by reference. */
#include "rows.h"

/* Values that are looked at within the tuples of one emit. A tuple that holds another one twice, and so
 * on, is as good as exponentially many; pickle, on the slow path, sees each once. */
enum { MOST_VISITS = 1 << 20 };

/* Whether all values of a type are immutable, and hold no others. */
static inline int is_scalar(const PyTypeObject *type)
{
    return type == &PyUnicode_Type || type == &PyLong_Type || type == &PyFloat_Type || type == Py_TYPE(Py_None) ||
           type == &PyBool_Type || type == &PyBytes_Type || type == &PyComplex_Type;
}

/* Exactly immutable values: what a component does later cannot change them. Anything else (a
 * subclass included, as it may carry attributes) is left to the slow path, which snapshots it. */
static int is_plain(PyObject *value, int *visits)
{
    PyTypeObject *type = Py_TYPE(value);
    if (is_scalar(type))
        return 1;
    if (type != &PyTuple_Type || Py_EnterRecursiveCall(" in a nested tuple"))
        return 0;
    Py_ssize_t size = PyTuple_GET_SIZE(value);
    int plain = size <= MOST_VISITS - *visits;
    *visits += plain ? (int)size : 0;
    for (Py_ssize_t i = 0; plain && i < size; i++)
        plain = is_plain(PyTuple_GET_ITEM(value, i), visits);
    Py_LeaveRecursiveCall();
    return plain;
}

int rows_are_plain(PyObject *list)
{
#ifdef Py_GIL_DISABLED /* where others may change it meanwhile */
    (void)list;
    return 0;
#else
    const PyTypeObject *before = NULL;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        const PyTypeObject *type = Py_TYPE(PyList_GET_ITEM(list, i));
        int visits = 0;
        if (type == before)
            continue;
        if (is_scalar(type)) {
            before = type;
        } else if (!is_plain(PyList_GET_ITEM(list, i), &visits)) {
            PyErr_Clear(); /* nested too deeply to look into: not plain */
            return 0;
        }
    }
    return 1;
#endif
}

PyObject *rows_is_plain(PyObject *module, PyObject *value)
{
    (void)module;
    int visits = 0;
    int plain = is_plain(value, &visits);
    if (PyErr_Occurred()) /* nested too deeply to look into: not plain */
        PyErr_Clear();
    return PyBool_FromLong(plain);
}

/* What a function of a module of ours makes of a value; NULL with an error set. */
static PyObject *made_by(const char *module, const char *function, PyObject *value)
{
    PyObject *found = PyImport_ImportModule(module);
    PyObject *made = found == NULL ? NULL : PyObject_CallMethod(found, function, "(O)", value);
    Py_XDECREF(found);
    return made;
}

PyObject *rows_python_of(PyObject *value)
{
    return made_by("viper.scalars", "python_of", value);
}

PyObject *rows_kept_plain(PyObject *value, int *all_plain)
{
    int visits = 0;
    if (is_plain(value, &visits))
        return Py_NewRef(value);
    PyErr_Clear(); /* nested too deeply to look into: not plain */
    *all_plain = 0;
    return made_by("viper.payload", "copy_of", value);
}

PyObject *rows_kept(PyObject *module, PyObject *value)
{
    int plain;
    (void)module;
    return rows_kept_plain(value, &plain);
}

/* A tuple that is what it holds: named values, too, but no class that iterates in a way of its own. */
static int is_ordinary_tuple(PyObject *values)
{
    return PyTuple_Check(values) && Py_TYPE(values)->tp_iter == PyTuple_Type.tp_iter;
}

/* Whether all values of a tuple are plain. Values beside each other are of one type more often than not, and such a value
 * takes 6 instructions instead of 24. */
static int holds_plain(PyObject *tuple)
{
    int visits = 0, plain = 1;
    const PyTypeObject *before = NULL;
    for (Py_ssize_t i = 0, size = PyTuple_GET_SIZE(tuple); plain && i < size; i++) {
        const PyTypeObject *type = Py_TYPE(PyTuple_GET_ITEM(tuple, i));
        if (type == before)
            continue;
        if (is_scalar(type))
            before = type;
        else
            plain = is_plain(PyTuple_GET_ITEM(tuple, i), &visits);
    }
    if (!plain && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_RecursionError))
        PyErr_Clear();
    return plain;
}

/* A new tuple of the values of a list, or of a tuple of a class of its own. */
static PyObject *copied_row(PyObject *values, Py_ssize_t size)
{
    int is_list = PyList_CheckExact(values);
    PyObject *row = PyTuple_New(size);
    /* Before 3.12 an allocation may collect garbage, whose finalizers may change the list. */
    if (row != NULL && is_list && PyList_GET_SIZE(values) != size)
        Py_CLEAR(row);
    for (Py_ssize_t i = 0; row != NULL && i < size; i++)
        PyTuple_SET_ITEM(row, i, Py_NewRef(is_list ? PyList_GET_ITEM(values, i) : PyTuple_GET_ITEM(values, i)));
    return row;
}

PyObject *rows_plain_row(PyObject *values, Py_ssize_t arity)
{
    int is_list = PyList_CheckExact(values);
    if (!is_list && !is_ordinary_tuple(values))
        return NULL;
    Py_ssize_t size = is_list ? PyList_GET_SIZE(values) : PyTuple_GET_SIZE(values);
    if (arity >= 0 && size != arity)
        return NULL;
    /* A plain tuple of plain values is what arrives of it. */
    PyObject *row = PyTuple_CheckExact(values) ? Py_NewRef(values) : copied_row(values, size);
    if (row != NULL && !holds_plain(row))
        Py_CLEAR(row);
    return row;
}

/* Whether a row is one of those that are known to hold nothing that can be changed, from an index of theirs on. Of a
 * filter's rows each is found where the last one was, or soon after; the first that is not there ends the search for all.
 */
static int is_known(PyObject *row, Py_ssize_t arity, PyObject *known, Py_ssize_t *from)
{
    if (known == NULL || !PyTuple_CheckExact(row) || (arity >= 0 && PyTuple_GET_SIZE(row) != arity))
        return 0;
    while (*from < PyList_GET_SIZE(known) && PyList_GET_ITEM(known, *from) != row)
        ++*from;
    return *from < PyList_GET_SIZE(known);
}

/* Appends the rows of a list to another, up to one that is not the common case; -1 with an error set. */
static Py_ssize_t append_plain(PyObject *rows, Py_ssize_t arity, PyObject *codes, Py_ssize_t index, PyObject *made,
                               PyObject *known)
{
    int failed = 0;
    Py_ssize_t from = 0;
    while (!failed && index < PyList_GET_SIZE(rows)) {
        PyObject *values = Py_NewRef(PyList_GET_ITEM(rows, index)), *row;
        if (is_known(values, arity, known, &from))
            row = Py_NewRef(values);
        else
            row = rows_fitting(rows_plain_row(values, arity), codes);
        Py_DECREF(values);
        if (row == NULL)
            return PyErr_Occurred() ? -1 : index;
        failed = PyList_Append(made, row);
        Py_DECREF(row);
        index++;
    }
    return failed ? -1 : index;
}

PyObject *rows_plain_rows(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *rows, *made, *codes = NULL, *known = NULL;
    Py_ssize_t arity, first, index;
    if (!PyArg_ParseTuple(args, "O!nnO!|OO", &PyList_Type, &rows, &arity, &first, &PyList_Type, &made, &codes, &known))
        return NULL;
    codes = codes == Py_None ? NULL : codes;
    known = known == Py_None ? NULL : known;
    if ((codes != NULL && !PyBytes_Check(codes)) || (known != NULL && (codes != NULL || !PyList_Check(known)))) {
        PyErr_SetString(PyExc_TypeError, "expected codes as bytes, or known rows as a list");
        return NULL;
    }
    if (first < 0) {
        PyErr_Format(PyExc_IndexError, "no index %zd", first);
        return NULL;
    }
    Py_BEGIN_CRITICAL_SECTION2(rows, made);
    index = append_plain(rows, arity, codes, first, made, known);
    Py_END_CRITICAL_SECTION2();
    return index < 0 ? NULL : PyLong_FromSsize_t(index);
}
