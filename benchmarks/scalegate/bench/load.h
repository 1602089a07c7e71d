/* What the sources add: the same for both designs, drawn from fixed seeds. */
#ifndef SCALEGATE_LOAD_H
#define SCALEGATE_LOAD_H

#include "viper/position.h"

/* How the sources' jumbo tuples lie to each other: they take turns; or each tuple lies anywhere between
 * those of the others, so that runs have about one tuple. */
typedef enum { LOAD_DISJOINT, LOAD_INTERLEAVED, LOADS } load_kind;

extern const char *const load_names[LOADS];

/* One source's, jumbo tuple by jumbo tuple. */
typedef struct {
    load_kind kind;
    uint32_t source, sources, jumbo;
    uint64_t left;  /* tuples */
    uint64_t begun; /* jumbo tuples */
    int64_t ts;
    uint64_t random;
} b_load;

b_load load_of(load_kind kind, uint32_t source, uint32_t sources, uint32_t jumbo, uint64_t tuples);

/* The next jumbo tuple; 0 if there are no tuples left. `into` has room for `jumbo`. */
uint32_t load_next(b_load *load, vp_position *into);

/* What becomes of a checksum of a sequence when a tuple is appended. */
uint64_t load_checksum(uint64_t checksum, vp_position position, uint32_t source);

/* The checksum of all sources' tuples, sorted by position, source and number; 0 if there is no memory. */
uint64_t load_reference(load_kind kind, uint32_t sources, uint32_t jumbo, uint64_t tuples);

#endif
