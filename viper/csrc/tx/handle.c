/* Handles: values that are known only when the transaction is evaluated, and what is computed of them. */
#include "record.h"

/* -- what a handle is not */

static int no_bool(PyObject *self)
{
    (void)self;
    PyErr_SetString(PyExc_TypeError,
                    "this value is known only when the transaction is evaluated: write t.require(condition) in place of `if`, "
                    "& and | in place of `and` and `or`, ~ in place of `not`, and (a <= b) & (b <= c) in place of a <= b <= c; "
                    "whatever needs the value itself is a function for self.alone(tup, function)");
    return -1;
}

static Py_hash_t no_hash(PyObject *self)
{
    (void)self;
    PyErr_SetString(PyExc_TypeError, "a handle has no hash: its value is known only when the transaction is evaluated");
    return -1;
}

static PyObject *no_iteration(PyObject *self)
{
    (void)self;
    PyErr_SetString(PyExc_TypeError, "a handle is one number, which is known only when the transaction is evaluated; a set "
                                     "column reads as the number of its elements, and its elements are there for "
                                     "self.alone(tup, function)");
    return NULL;
}

static PyObject *no_number(PyObject *self)
{
    (void)self;
    PyErr_SetString(PyExc_TypeError, "this value is known only when the transaction is evaluated: it cannot be a key, an index or a "
                                     "plain number. It is in the result (process_result), and for a float of it there is "
                                     "t.float(handle)");
    return NULL;
}

/* -- arithmetic */

static Transaction *transaction_of(PyObject *left, PyObject *right)
{
    return ((Handle *)(tx_is_handle(left) ? left : right))->transaction;
}

/* The transaction of two operands, of which one is a handle, and these; NULL with an error set. */
static Recorder *operands(PyObject *first, PyObject *second, Operand *left, Operand *right)
{
    Transaction *transaction = transaction_of(first, second);
    Recorder *recorder = tx_enter(transaction);
    if (recorder == NULL)
        return NULL;
    if (tx_operand(transaction, first, left, "the left operand") == 0 &&
        tx_operand(transaction, second, right, "the right operand") == 0)
        return recorder;
    tx_leave(recorder);
    return NULL;
}

static PyObject *number(PyObject *first, PyObject *second, int code)
{
    Operand left, right;
    Recorder *recorder = operands(first, second, &left, &right);
    if (recorder == NULL)
        return NULL;
    int is_float = left.kind == TX_FLOAT || right.kind == TX_FLOAT;
    PyObject *made = tx_compute(transaction_of(first, second), code, left, right, is_float ? TX_FLOAT : TX_INT, is_float);
    tx_leave(recorder);
    return made;
}

static PyObject *plus(PyObject *left, PyObject *right)
{
    return number(left, right, VP_TX_PLUS);
}

static PyObject *minus(PyObject *left, PyObject *right)
{
    return number(left, right, VP_TX_MINUS);
}

static PyObject *multiplied(PyObject *left, PyObject *right)
{
    return number(left, right, VP_TX_TIMES);
}

/* wants: whether floats are divided; else ints, which are rounded down. */
static PyObject *divided(PyObject *first, PyObject *second, int wants)
{
    Operand left, right;
    PyObject *made = NULL;
    Recorder *recorder = operands(first, second, &left, &right);
    if (recorder == NULL)
        return NULL;
    int is_float = left.kind == TX_FLOAT || right.kind == TX_FLOAT;
    if (is_float == wants)
        made = tx_compute(transaction_of(first, second), VP_TX_DIVIDED, left, right, is_float ? TX_FLOAT : TX_INT, is_float);
    else
        PyErr_SetString(PyExc_TypeError, wants ? "/ divides floats: write t.float(a) / b, or a // b, which is rounded down"
                                               : "// divides ints; floats are divided by /");
    tx_leave(recorder);
    return made;
}

static PyObject *true_divided(PyObject *left, PyObject *right)
{
    return divided(left, right, 1);
}

static PyObject *floor_divided(PyObject *left, PyObject *right)
{
    return divided(left, right, 0);
}

static PyObject *negative(PyObject *self)
{
    PyObject *minus_one = PyLong_FromLong(-1);
    PyObject *made = minus_one == NULL ? NULL : number(self, minus_one, VP_TX_TIMES); /* as 0 - x makes no -0.0 */
    Py_XDECREF(minus_one);
    return made;
}

static PyObject *positive(PyObject *self)
{
    return Py_NewRef(self);
}

/* -- conditions */

static PyObject *both(PyObject *first, PyObject *second, int code)
{
    Operand left, right;
    PyObject *made = NULL;
    Recorder *recorder = operands(first, second, &left, &right);
    if (recorder == NULL)
        return NULL;
    if (left.kind == TX_BOOL && right.kind == TX_BOOL)
        made = tx_compute(transaction_of(first, second), code, left, right, TX_BOOL, 0);
    else
        PyErr_Format(PyExc_TypeError, "%s joins conditions, such as (a > 0) %s (b > 0); found a number",
                     code == VP_TX_AND ? "&" : "|", code == VP_TX_AND ? "&" : "|");
    tx_leave(recorder);
    return made;
}

static PyObject *conjunction(PyObject *left, PyObject *right)
{
    return both(left, right, VP_TX_AND);
}

static PyObject *disjunction(PyObject *left, PyObject *right)
{
    return both(left, right, VP_TX_OR);
}

static PyObject *inverted(PyObject *self)
{
    Operand left, right = {0, TX_BOOL, 0, NULL};
    Transaction *transaction = ((Handle *)self)->transaction;
    PyObject *made = NULL;
    Recorder *recorder = tx_enter(transaction);
    if (recorder == NULL)
        return NULL;
    if (tx_operand(transaction, self, &left, "the operand") == 0) {
        if (left.kind == TX_BOOL)
            made = tx_compute(transaction, VP_TX_NOT, left, right, TX_BOOL, 0);
        else
            PyErr_SetString(PyExc_TypeError, "~ negates a condition, such as ~(a > 0); found a number");
    }
    tx_leave(recorder);
    return made;
}

/* Comparisons by those that there are: a > b is b < a. */
static PyObject *compared(PyObject *first, PyObject *second, int operation)
{
    static const int codes[] = {[Py_LT] = VP_TX_BELOW,   [Py_LE] = VP_TX_AT_MOST, [Py_EQ] = VP_TX_EQUAL,
                                [Py_NE] = VP_TX_UNEQUAL, [Py_GT] = VP_TX_BELOW,   [Py_GE] = VP_TX_AT_MOST};
    Operand left, right;
    Recorder *recorder = operands(first, second, &left, &right);
    if (recorder == NULL)
        return NULL;
    int turned = operation == Py_GT || operation == Py_GE;
    int is_float = left.kind == TX_FLOAT || right.kind == TX_FLOAT;
    PyObject *made = tx_compute(transaction_of(first, second), codes[operation], turned ? right : left,
                                turned ? left : right, TX_BOOL, is_float);
    tx_leave(recorder);
    return made;
}

/* -- functions of a transaction */

static PyObject *chosen(Transaction *self, PyObject *const *args, Py_ssize_t count, int code, const char *name)
{
    if (count != 2) {
        PyErr_Format(PyExc_TypeError, "%s takes two values; found %zd", name, count);
        return NULL;
    }
    if (tx_is_handle(args[0]) || tx_is_handle(args[1])) {
        if (((Handle *)(tx_is_handle(args[0]) ? args[0] : args[1]))->transaction == self)
            return number(args[0], args[1], code);
        PyErr_Format(PyExc_ValueError, "%s was given a handle of another transaction", name);
        return NULL;
    }
    int is_second = PyObject_RichCompareBool(args[1], args[0], code == VP_TX_LEAST ? Py_LT : Py_GT);
    return is_second < 0 ? NULL : Py_NewRef(args[is_second]);
}

PyObject *tx_least(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    return chosen(self, args, count, VP_TX_LEAST, "least");
}

PyObject *tx_greatest(Transaction *self, PyObject *const *args, Py_ssize_t count)
{
    return chosen(self, args, count, VP_TX_GREATEST, "greatest");
}

PyObject *tx_float(Transaction *self, PyObject *value)
{
    Operand operand;
    PyObject *made = NULL;
    Recorder *recorder = tx_enter(self);
    if (recorder == NULL)
        return NULL;
    if (tx_is_wide(self, value))
        tx_refuse_operand(value, "the operand of float");
    else if (tx_operand(self, value, &operand, "the operand") == 0) {
        if (!operand.is_register)
            made = PyFloat_FromDouble(operand.kind == TX_FLOAT ? double_of_word(operand.word) : (double)operand.word);
        else if (operand.kind == TX_FLOAT)
            made = Py_NewRef(value);
        else if (tx_to_float(self, &operand) == 0)
            made = tx_handle_new(self);
    }
    tx_leave(recorder);
    return made;
}

static PyObject *handle_repr(Handle *self)
{
    PyObject *kind = self->kind == TX_BOOL ? PyUnicode_FromString("condition") : tx_kind_name(self->kind);
    PyObject *text = kind == NULL ? NULL : PyUnicode_FromFormat("<handle %u of a transaction: %U>", self->number, kind);
    Py_XDECREF(kind);
    return text;
}

static PyType_Slot handle_slots[] = {
    {Py_tp_doc, "A value of a transaction, which is known only when that is evaluated."},
    {Py_tp_dealloc, tx_handle_dealloc},
    {Py_tp_repr, handle_repr},
    {Py_tp_hash, no_hash},
    {Py_tp_iter, no_iteration},
    {Py_tp_richcompare, compared},
    {Py_nb_bool, no_bool},
    {Py_nb_index, no_number},
    {Py_nb_int, no_number},
    {Py_nb_float, no_number},
    {Py_nb_add, plus},
    {Py_nb_subtract, minus},
    {Py_nb_multiply, multiplied},
    {Py_nb_true_divide, true_divided},
    {Py_nb_floor_divide, floor_divided},
    {Py_nb_negative, negative},
    {Py_nb_positive, positive},
    {Py_nb_and, conjunction},
    {Py_nb_or, disjunction},
    {Py_nb_invert, inverted},
    {0, NULL},
};

PyType_Spec tx_handle_spec = {"viper._rows.Handle", sizeof(Handle), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, handle_slots};
