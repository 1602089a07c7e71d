/* Whether a record batch holds nulls. */
#include "exporting.h"

PyObject *rows_is_valid(PyObject *module, PyObject *batch)
{
    (void)module;
    Exported exported;
    if (exported_open(&exported, batch))
        return NULL;
    int is_valid = 1;
    for (int64_t i = 0; i < exported.array->n_children; i++) {
        const struct ArrowArray *column = exported.array->children[i];
        int has_bits = column->n_buffers > 0 && column->buffers[0] != NULL;
        is_valid &= column->null_count == 0 || (!has_bits && column->n_buffers > 0);
    }
    exported_close(&exported);
    return PyBool_FromLong(is_valid);
}
