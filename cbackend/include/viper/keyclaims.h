/* Claims of key groups: the readers of a gate share its tuples, and each key group has one of them at a time.
 *
 * All readers go through all tuples, in the order of the merge, in which each tuple has a number. Whoever comes first to
 * a tuple of a group that nobody has takes the group, and with it the tuple. Whoever comes to a tuple of another's group
 * leaves it to that one, and goes on. The owner gives a group up when it has processed all that was left to it. So a
 * group is worked on by one reader at a time, in order, and a slow tuple holds up its own group only.
 *
 * It is the hybrid queue of "Scaling Ordered Stream Processing on Shared-Memory Multicores" (Prasaad, Ramalingam, Rajan,
 * VLDB 2018), whose count of a partition tells its owner that more was left to it. Here the rings of the gate are the
 * queues, and in the place of a count there is the number of the last tuple that was left. As each reader goes upwards,
 * so do its outputs, and the gate behind puts them in order.
 */
#ifndef VIPER_KEYCLAIMS_H
#define VIPER_KEYCLAIMS_H

#include <stdint.h>

typedef struct vp_keyclaims vp_keyclaims;
typedef struct vp_keyclaimant vp_keyclaimant; /* a reader, private to its process */

/* Bytes that those of so many groups take, for so many readers. */
uint64_t vp_keyclaims_size(uint32_t groups, uint32_t readers);

/* Makes some out of a zeroed region, aligned to a line: nobody has any group. */
vp_keyclaims *vp_keyclaims_format(void *region, uint32_t groups, uint32_t readers);

/* A reader begins, or takes the place of a dead one. All tuples below a number are processed, or lost; it comes to those
 * behind, of which the dead one may have come to some before. They are its own if they were the dead one's. NULL if there
 * is no memory. Numbers have 48 bits, readers 15. */
vp_keyclaimant *vp_keyclaimant_new(vp_keyclaims *claims, uint32_t reader, uint64_t number);

/* Ends the use of a reader; what it has, it has. */
void vp_keyclaimant_free(vp_keyclaimant *claimant);

/* Goes through the next tuples of a reader, up to where it has `most` of its own, at least 1, or comes to a free group with
 * which its groups would have more than its share of the tuples. They have numbers from
 * `number` on, and are of these groups, each below the number of groups. Says in `mine` which of them are the reader's, and
 * in `count` through how many it has gone; returns how many are the reader's. Each call begins where the reader's last one
 * ended, or where it has begun. */
uint64_t vp_keyclaimant_take(vp_keyclaimant *claimant, uint64_t number, const uint16_t *groups, uint64_t most,
                             uint64_t *count, uint16_t *mine);

/* Gives up those of a reader's groups of which nothing is left to it. All of its tuples below a number are processed, and
 * what they have changed lasts. */
void vp_keyclaimant_release(vp_keyclaimant *claimant, uint64_t number);

/* The least number that no reader has come to yet; from anywhere. */
uint64_t vp_keyclaims_frontier(const vp_keyclaims *claims);

/* Which reader has a group; -1: nobody. */
int64_t vp_keyclaims_owner(const vp_keyclaims *claims, uint32_t group);

#endif
