/* Record batches that C makes, handed to Arrow through the C data interface. */
#include "owned.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

typedef struct {
    struct ArrowArray array;
    const void *buffers[3];
} Column;

struct Owned {
    const void *buffers[1];
    struct ArrowArray **children;
    Column *columns;
    char *values, *next;
    size_t added;
};

size_t owned_width(const struct ArrowSchema *schema)
{
    static const struct {
        char letters[8];
        size_t width;
    } plain[] = {{"cC", 1}, {"sSe", 2}, {"iIf", 4}, {"lLg", 8}};
    static const struct {
        char prefix[4];
        size_t width;
    } longer[] = {{"tdD", 4}, {"tts", 4}, {"ttm", 4}, {"tt", 8}, {"ts", 8}, {"tD", 8}};
    const char *format = schema->format, *comma = strrchr(format, ',');
    if (schema->dictionary != NULL)
        return 0;
    for (size_t i = 0; format[1] == '\0' && i < sizeof plain / sizeof *plain; i++)
        if (strchr(plain[i].letters, *format) != NULL)
            return plain[i].width;
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
        if (strncmp(format, longer[i].prefix, strlen(longer[i].prefix)) == 0)
            return longer[i].width;
    /* A decimal of 128 bits says only how many digits it has: d:10,2. */
    return strncmp(format, "d:", 2) == 0 && strchr(format, ',') == comma ? 16 : 0;
}

size_t owned_rounded(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void free_all(Owned *owned)
{
    free(owned->values);
    free(owned->columns);
    free(owned->children);
    free(owned);
}

static void release_child(struct ArrowArray *array)
{
    array->release = NULL;
}

static void release_batch(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release != NULL)
            array->children[i]->release(array->children[i]);
    free_all(array->private_data);
    array->release = NULL;
}

Owned *owned_new(size_t columns, size_t bytes)
{
    Owned *owned = calloc(1, sizeof *owned);
    if (owned == NULL)
        return NULL;
    owned->children = calloc(columns + 1, sizeof *owned->children);
    owned->columns = calloc(columns + 1, sizeof *owned->columns);
    owned->values = owned->next = aligned_alloc(ALIGNMENT, owned_rounded(bytes + 1));
    if (owned->children != NULL && owned->columns != NULL && owned->values != NULL)
        return owned;
    free_all(owned);
    return NULL;
}

void *owned_part(Owned *owned, size_t bytes)
{
    char *part = owned->next;
    owned->next += owned_rounded(bytes);
    return part;
}

void owned_add(Owned *owned, int64_t rows, const void *const *buffers, int count)
{
    Column *column = &owned->columns[owned->added];
    memcpy(column->buffers, buffers, (size_t)count * sizeof *buffers);
    column->array = (struct ArrowArray){.length = rows,
                                        .null_count = buffers[0] == NULL ? 0 : -1, /* to be counted by Arrow */
                                        .n_buffers = count,
                                        .buffers = column->buffers,
                                        .release = release_child};
    owned->children[owned->added++] = &column->array;
}

void owned_export(Owned *owned, int64_t rows, struct ArrowArray *made)
{
    *made = (struct ArrowArray){.length = rows,
                                .n_buffers = 1,
                                .n_children = (int64_t)owned->added,
                                .buffers = owned->buffers,
                                .children = owned->children,
                                .release = release_batch,
                                .private_data = owned};
}

PyObject *owned_import(struct ArrowArray *made, PyObject *take)
{
    PyObject *found = PyObject_CallFunction(take, "n", (Py_ssize_t)(uintptr_t)made);
    if (made->release != NULL) /* nobody has taken it */
        made->release(made);
    return found;
}
