/* The gate (ScaleGate): one stream of several sources to several readers, each of which gets every tuple, or, where
 * they claim them, those that it claims.
 *
 * It has one ring per source, and each ring has one head per reader: nothing is copied for a reader,
 * and a ring has room when the slowest reader has released some. Each reader merges the rings for
 * itself: see merge.h.
 *
 * Whoever sleeps is rung: the readers' bells by what is published, a source's bell by what is released
 * if the source found its ring full since. A bell is named by its offset in the arena; 0 is none.
 *
 * What is counted can be read by anybody at any time. Each count is right by itself; taken together
 * they may be of slightly different moments.
 */
#ifndef VIPER_GATE_H
#define VIPER_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "viper/ring.h"

typedef struct vp_gate vp_gate;

/* At least 1 source, reader, slot and tuple; sources and readers up to 2^16, slots and tuples up to 2^31,
 * bytes up to 2^40. Slots, tuples and bytes are for each source, and rounded up to powers of two. */
typedef struct {
    uint32_t sources, readers, slots, tuples;
    uint64_t payload_bytes;
    bool claims; /* each tuple goes to one reader only, see merge.h */
} vp_gate_shape;

typedef struct {
    uint64_t added_jumbos, added_tuples, added_bytes; /* published so far */
    uint64_t refused;                                 /* times that the ring was found full */
    uint64_t blocked_ns;                              /* from a first refusal to the next jumbo tuple, or till now */
} vp_source_counts;

typedef struct {
    uint64_t delivered_tuples, runs;         /* so far */
    uint64_t waiting_jumbos, waiting_tuples; /* now; a jumbo tuple that was delivered in part waits */
} vp_reader_counts;

/* Bytes that a gate takes. */
uint64_t vp_gate_size(vp_gate_shape shape);

/* Makes a gate out of the zeroed region at an offset in an arena. */
vp_gate *vp_gate_format(void *arena, uint64_t offset, vp_gate_shape shape);

/* The gate at an offset in an arena; NULL if none was made there, or not all of it lies in what was
 * allocated. */
vp_gate *vp_gate_at(void *arena, uint64_t offset);

uint32_t vp_gate_sources(const vp_gate *gate);
uint32_t vp_gate_readers(const vp_gate *gate);
bool vp_gate_claims(const vp_gate *gate);
vp_ring *vp_gate_ring(vp_gate *gate, uint32_t source);

void vp_gate_set_source_bell(vp_gate *gate, uint32_t source, uint64_t bell);
void vp_gate_set_reader_bell(vp_gate *gate, uint32_t reader, uint64_t bell);

/* Whether a reader that claims tuples claims none for now. Its bell is rung behind each claim of another then. To be
 * called before it looks; where it rests from now on, the others that do are told. */
void vp_gate_rest_reader(vp_gate *gate, uint32_t reader, bool rests);

/* After a reader died: it no longer bounds the rings. It must never read again. */
void vp_gate_expel_reader(vp_gate *gate, uint32_t reader);

/* After a reader died, for its successor, which goes on behind what that one was delivered. Returns how many
 * untracked tuples that one had not finished. */
uint64_t vp_gate_bury_reader(vp_gate *gate, uint32_t reader);

vp_source_counts vp_gate_added(const vp_gate *gate, uint32_t source);
vp_reader_counts vp_gate_delivered(const vp_gate *gate, uint32_t reader, uint32_t source);

/* How many claims a reader has got; 0 where each reader gets every tuple. */
uint64_t vp_gate_claims_of(const vp_gate *gate, uint32_t reader);

/* The source that a reader waited for when it last looked; -1 if it waited for none. */
int64_t vp_gate_holding(const vp_gate *gate, uint32_t reader);

#endif
