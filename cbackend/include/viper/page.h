/* The page of a task: how far it has come, in words that go back with its state.
 *
 * For each ring that the task reads there is the number of tuples that it was delivered, and for each ring that it
 * feeds the number of tuples that it has handed over, both as of its last commit. When the process of the task dies,
 * whoever opens the task's writer plays its log back, and the page, too, is as at that commit. So the successor is
 * delivered once more what the dead one had taken since. It emits the same again, and leaves out so many of the first
 * tuples for each ring as that ring has beyond the page's number: the consumers have those already.
 *
 *     vp_ring_recover(...);                        each ring that the dead task has fed
 *     vp_writer_open(...);                         plays the log back
 *     vp_gate_rewind_reader(gate, reader, page);   before anybody reads in its place
 *     skip = vp_page_feed(page, output, ring);     for each ring that it feeds
 *
 * A number per ring is enough, as the tuples of a ring are in the order of their emission; positions would not do:
 * those of different tuples may be equal.
 */
#ifndef VIPER_PAGE_H
#define VIPER_PAGE_H

#include <stdint.h>

#include "viper/gate.h"
#include "viper/writer.h"

typedef struct vp_page vp_page; /* private to a process */

/* Bytes that the page of a task with so many rings takes. */
uint64_t vp_page_size(uint32_t inputs, uint32_t outputs);

/* The page at an offset in an arena, which was zeroed when it was made; NULL if memory ran out. */
vp_page *vp_page_new(void *arena, uint64_t offset, uint32_t inputs, uint32_t outputs);

void vp_page_free(vp_page *page);

/* How many tuples the task had better take one by one, as its process has died among them: not undone by anything. */
uint64_t vp_page_singly(const vp_page *page);
void vp_page_set_singly(vp_page *page, uint64_t tuples);

/* As of the last commit, unless a slice is open: how often the task has committed; the tuples that it was delivered
 * from a ring; those that it has handed over to one. */
uint64_t vp_page_commits(const vp_page *page);
uint64_t vp_page_delivered(const vp_page *page, uint32_t input);
uint64_t vp_page_handed_over(const vp_page *page, uint32_t output);

/* Says which reader the task takes its input by: that of the gate's sources are inputs `first` and following. */
void vp_page_read(vp_page *page, uint32_t first, vp_gate *gate, uint32_t reader);

/* Says which ring an output is. Returns how many tuples the ring has beyond the page's number; so many are to be
 * skipped. */
uint64_t vp_page_feed(vp_page *page, uint32_t output, vp_ring *ring);

/* Notes that so many tuples of an output were skipped now. Returns how many are left. */
uint64_t vp_page_skip(vp_page *page, uint32_t output, uint64_t tuples);

/* Writes how far the task has come: 1, or 0 if nothing has changed since the last time, or VP_NO_ROOM. To be called
 * when all tuples that it was delivered have been processed, and all that was emitted for them lies in the rings; and
 * to be followed by a commit. */
int vp_page_note(vp_page *page, vp_writer *writer);

/* After a reader died, and its task's log was played back: how many tuples of an input it had taken and not committed.
 * The reader was said by vp_page_read. */
uint64_t vp_page_taken(const vp_page *page, uint32_t input);

/* Likewise of a gate whose readers claim its tuples, before its reader is rewound; its input `first` is the gate's first
 * source. */
uint64_t vp_page_taken_of_claim(const vp_page *page, uint32_t first, vp_gate *gate, uint32_t reader);

/* Writes that a successor is not to get what was taken and not committed; a commit is to follow. 0, or VP_NO_ROOM. */
int vp_page_leave_out(vp_page *page, vp_writer *writer);

/* After a reader died whose task has a page, for its successor, which goes on behind what the page says; its input
 * `first` is the gate's first source. */
void vp_gate_rewind_reader(vp_gate *gate, uint32_t reader, const vp_page *page, uint32_t first);

#endif
