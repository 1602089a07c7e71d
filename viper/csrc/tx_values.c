/* Numbers as the words of columns, and back. */
#include "tx.h"

PyObject *tx_column_name(const SharedRows *table, int column)
{
    return PyUnicode_FromFormat("%U.%U", table->name, PyTuple_GET_ITEM(table->names, column));
}

static int refuse_value(const SharedRows *table, int column, PyObject *value)
{
    PyObject *name = tx_column_name(table, column), *kind = tx_kind_name(table->kinds[column]);
    if (name != NULL && kind != NULL)
        PyErr_Format(PyExc_TypeError, "column %U is %U; found %.100R of type %.100s", name, kind, value,
                     Py_TYPE(value)->tp_name);
    Py_XDECREF(name);
    Py_XDECREF(kind);
    return -1;
}

static int float_word(const SharedRows *table, int column, PyObject *value, int64_t *word)
{
    if (!PyFloat_Check(value) && !PyIndex_Check(value))
        return refuse_value(table, column, value);
    double number = PyFloat_AsDouble(value); /* by __index__ where it has no __float__ */
    *word = word_of_double(number);
    return number == -1.0 && PyErr_Occurred() ? -1 : 0;
}

int tx_word(const SharedRows *table, int column, PyObject *value, int64_t *word)
{
    if (tx_is_handle(value))
        return refuse_value(table, column, value);
    if (table->kinds[column] == TX_FLOAT)
        return float_word(table, column, value, word);
    if (!PyIndex_Check(value))
        return refuse_value(table, column, value);
    PyObject *index = PyNumber_Index(value);
    int failed = index == NULL || (PyBool_Check(index) ? (*word = index == Py_True, 0) : tx_int64(index, word));
    Py_XDECREF(index);
    return failed ? -1 : 0;
}

PyObject *tx_number(char kind, int64_t word)
{
    if (kind == TX_FLOAT)
        return PyFloat_FromDouble(double_of_word(word));
    return kind == TX_BOOL ? PyBool_FromLong(word != 0) : PyLong_FromLongLong(word);
}
