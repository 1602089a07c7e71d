/* The two structs of the Arrow C data interface, through which arrays of any library are read without its headers:
 * https://arrow.apache.org/docs/format/CDataInterface.html. They are an ABI; names and order are given there. */
#ifndef VIPER_ARROW_H
#define VIPER_ARROW_H

#include <stdint.h>

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif
