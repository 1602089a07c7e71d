/* The extension module viper._rows. */
#include "rows/rows.h" /* first, as Python.h wants it */

#include "rows/addressed.h"
#include "keys/hashing.h"
#include "state/state.h"
#include "tx/tx.h"

static int add_type(PyObject *module, const char *name, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    int failed = type == NULL || PyModule_AddObjectRef(module, name, type);
    Py_XDECREF(type);
    return failed ? -1 : 0;
}

/* Has numpy leave operators to instances of a type, which it would else ask for each item of an array. */
static int let_numpy_pass(PyObject *module, const char *name)
{
    PyObject *type = PyObject_GetAttrString(module, name);
    int failed = type == NULL || PyObject_SetAttrString(type, "__array_ufunc__", Py_None);
    Py_XDECREF(type);
    return failed ? -1 : 0;
}

static int rows_exec(PyObject *module)
{
    int failed = add_type(module, "Outbox", &rows_outbox_spec) || add_type(module, "Inbox", &rows_inbox_spec) ||
                 add_type(module, "Decoder", &rows_decoder_spec) || add_type(module, "SlotTable", &rows_slots_spec) ||
                 add_type(module, "Scope", &rows_scope_spec) || add_type(module, "KeyedTable", &rows_table_spec) ||
                 add_type(module, "StateCell", &rows_cell_spec) || add_type(module, "TableCell", &rows_columns_spec) ||
                 add_type(module, "ListCell", &rows_list_spec) || add_type(module, "MapCell", &rows_map_spec) ||
                 add_type(module, "SharedRows", &tx_rows_spec) || add_type(module, "Recorder", &tx_recorder_spec) ||
                 add_type(module, "Transaction", &tx_transaction_spec) || add_type(module, "Handle", &tx_handle_spec) ||
                 add_type(module, "Result", &tx_result_spec) ||
                 add_type(module, "RowResults", &tx_row_results_spec) || let_numpy_pass(module, "Handle");
    return failed ? -1 : 0;
}

static PyMethodDef rows_methods[] = {
    {"is_plain", rows_is_plain, METH_O, "is_plain(value) -> bool: whether a value is exactly immutable."},
    {"kept", rows_kept, METH_O,
     "kept(value) -> object: the value itself if it is immutable, else a copy that nobody else has."},
    {"plain_rows", rows_plain_rows, METH_VARARGS,
     "plain_rows(rows, arity, first, made, codes, known) -> int: append the rows of a list, from index `first` on, as tuples to\n"
     "the list `made`, up to one that is no list or tuple of exactly immutable values, or not of so many (-1: any\n"
     "number), or, where codes are given, has a value of another type than its code says; returns its index, or how\n"
     "many rows there are. Without codes the tuples of a list `known` are taken as they are, where they come in its order."},
    {"ends", rows_ends, METH_VARARGS,
     "ends(of, count) -> bytes | None: for each of so many inputs how many outputs there are up to it, as native\n"
     "uint32, where `of` has the input of each output; None where `of` does not ascend."},
    {"are_ends", rows_are_ends, METH_VARARGS,
     "are_ends(ends, size) -> bool: whether numbers, as native uint32, never descend, and the last is `size`."},
    {"call_each", rows_call_each, METH_VARARGS,
     "call_each(function, rows, made, bare=False) -> (Exception | None, bool): call a function with the values of each row\n"
     "tuple of a list, or, if `bare`, with each value of a list; and append its results. What can be changed is copied at\n"
     "once, as `kept` does. Returns what the function has raised for the row behind those of the results, if it has; and\n"
     "True if all results are plain, as `is_plain` tells."},
    {"call_flat", rows_call_flat, METH_VARARGS,
     "call_flat(function, rows, made, bare=False) -> ((bytes, Exception | None), bool): likewise, but append each of\n"
     "what the function returns for a row; returns the length of `made` behind each row, as native uint32, too. What came\n"
     "of a row for which it raised is not there."},
    {"call_choosing", rows_call_choosing, METH_VARARGS,
     "call_choosing(function, rows, made, bare=False) -> (bytes, Exception | None): likewise, but append the rows themselves\n"
     "for which the function returns something true."},
    {"pick", rows_pick, METH_VARARGS,
     "pick(rows, indexes) -> list: for each row tuple of a list the tuple of its values at several indexes, or its value at the\n"
     "only one. IndexError where a row has no such value."},
    {"fold", rows_fold, METH_VARARGS,
     "fold(rows, made, functions, values, width, results) -> (Exception | None, bool): give each row tuple of a list to the\n"
     "value of its key, and append its output to the list `made`. Functions are that which makes the next value, that which makes\n"
     "the value before the first row (None: the row itself is that), that which makes the result of a value (None: the\n"
     "value is that), and that which makes a tuple of several results. Values are two dictionaries by key, of what has\n"
     "changed and of others, functions that read another key's value and that replace a key that no dictionary takes,\n"
     "and the object that stands for no value. Returns as `call_each`."},
    {"bits_of_mask", rows_bits_of_mask, METH_O,
     "bits_of_mask(mask) -> bytes: the bits of an Arrow array of bools, as native uint64 from the lowest of each upwards;\n"
     "null counts as false."},
    {"ends_of_bits", rows_ends_of_bits, METH_VARARGS,
     "ends_of_bits(bits, count) -> bytes: for each of so many bits how many are set up to it, as native uint32."},
    {"is_valid", rows_is_valid, METH_O,
     "is_valid(batch) -> bool: whether no column of an Arrow record batch holds null; False where nobody has counted."},
    {"select", rows_select, METH_VARARGS,
     "select(batch, bits, take) -> object | None: copy the rows of an Arrow record batch whose bits are set, as bits_of_mask\n"
     "gives them, and return what `take` makes of the address of the batch in Arrow's C data interface; None where\n"
     "the columns are not all of fixed width and without nulls, or the rows lie in short runs."},
    {"copy_batch", rows_copy, METH_VARARGS,
     "copy_batch(batch, take) -> object | None: copy an Arrow record batch into memory of its own, and return what `take`\n"
     "makes of the address of the copy; None where a column is neither of fixed width nor of texts or bytes."},
    {"split_words", rows_split_words, METH_VARARGS,
     "split_words(column, take) -> (object, bytes): the words of an Arrow column of texts, as `take` makes them of the address\n"
     "of a batch of one column, and for each text the number of words up to its end, as native uint32. Null has none."},
    {"count_up", rows_count_up, METH_VARARGS,
     "count_up(slots, counts) -> bytes: count each slot (native uint32) in counts (int64), and tell the count it has then."},
    {"exchange", rows_exchange, METH_VARARGS,
     "exchange(slots, values, latest) -> bytes: put the value of each slot (native uint32) into latest, and tell what was\n"
     "there; values have 8 bytes."},
    {"encode_rows", (PyCFunction)(void (*)(void))rows_encode, METH_FASTCALL,
     "encode_rows(rows, first=b\"\") -> bytes | None: a list of row tuples as bytes, behind others; None where a value is not\n"
     "immutable or of a rarer type."},
    {"encode_addressed", rows_encode_addressed, METH_VARARGS,
     "encode_addressed(rows, shift) -> bytes | None: as encode_rows, of addressed rows, each of which can be skipped by\n"
     "the mask of its key groups, whose bits are `group >> shift`."},
    {"own_rows", rows_own, METH_VARARGS,
     "own_rows(rows, first, count, start, stop) -> list: the addressed rows that concern key groups from `start` up to\n"
     "`stop`, with None in the place of all others."},
    {"partition", rows_partition, METH_VARARGS,
     "partition(rows, targets, parts) -> list of lists: row i goes to part targets[i] (native uint16);\n"
     "a target past the last part drops its row."},
    {"interleave", rows_interleave, METH_VARARGS,
     "interleave(lists, firsts, chosen) -> list: the next row of list chosen[i] (native uint16), for all i;\n"
     "of each list the rows from the index in firsts on."},
    {"gather", rows_gather, METH_VARARGS,
     "gather(firsts, chosen) -> bytes: for each row the next index of the source that is chosen for it, as native\n"
     "uint32. `firsts` has the first index of each source, `chosen` the source of each row, as native uint16."},
    {"interleave_tags", rows_interleave_tags, METH_VARARGS,
     "interleave_tags(tags, firsts, bases, chosen) -> bytes: as interleave does with rows, the next tag of list chosen[i]\n"
     "(all native uint16), with the base of its list added to it; the tags of a list that is None are all 0."},
    {"canonical_key", key_canonical, METH_VARARGS,
     "canonical_key(value, hash_of_rare, canonical_of_rare) -> bytes: equal for equal keys, whatever their types."},
    {"misfit", rows_misfit, METH_VARARGS,
     "misfit(rows, arity) -> int | None: index of the first that is no tuple of so many values (-1: any number)."},
    {"is_ascii", rows_is_ascii, METH_O, "is_ascii(data) -> bool: whether no byte is above 127."},
    {"descent", rows_descent, METH_O,
     "descent(times) -> int: the index of the first time (native int64) that is earlier than the one before it; -1 for\n"
     "none."},
    {"xxh64", rows_xxh64, METH_VARARGS, "xxh64(data, seed=0) -> int: XXH64 of bytes, a fast checksum."},
    {"hash_of", hashing_hash_of, METH_VARARGS,
     "hash_of(value, rare) -> int: the stable hash of a value; rare(value) has that of one that is not plain."},
    {"siphash", hashing_siphash, METH_VARARGS,
     "siphash(data, key0=..., key1=...) -> int: SipHash-1-3 of bytes, by default with the key of the stable hash."},
    {"hashes_of_rows", hashing_hashes_of_rows, METH_VARARGS,
     "hashes_of_rows(rows, indexes, rare) -> bytes: the hash of each tuple's key, as native uint64."},
    {"targets_of_rows", hashing_targets_of_rows, METH_VARARGS,
     "targets_of_rows(rows, indexes, tasks, groups, rare) -> bytes: the index of the task that has each key's group, as\n"
     "native uint16."},
    {"hashes_of_columns", hashing_hashes_of_columns, METH_O,
     "hashes_of_columns(columns) -> bytes | None: as hashes_of_rows, of Arrow arrays, which are the key's fields;\n"
     "None where one is of a type that is hashed value by value."},
    {"targets_of_columns", hashing_targets_of_columns, METH_VARARGS,
     "targets_of_columns(columns, tasks, groups) -> bytes | None: as targets_of_rows, of Arrow arrays."},
    {"split", hashing_split, METH_VARARGS,
     "split(targets, parts) -> (bytes, list): the indexes of rows in the order of their parts, as native uint32,\n"
     "and where each part begins, with the end of the last; a target past the last part drops its row."},
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
