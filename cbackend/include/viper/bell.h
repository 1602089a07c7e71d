/* The bell: where a thread of execution sleeps until others have something for it.
 *
 *     ticket = vp_bell_ticket(bell);
 *     if (there is nothing to do)             looked at after the ticket was taken
 *         vp_bell_wait(bell, ticket, ...);
 *
 * Whoever makes something to do rings after it is there. Then no ring is lost: one that comes after the
 * ticket was taken ends the wait, or keeps it from beginning; of one that came before, the look after
 * the ticket sees the effect.
 *
 * A zeroed region is a bell. Any number of threads may ring; as a rule one sleeps.
 */
#ifndef VIPER_BELL_H
#define VIPER_BELL_H

#include <stdint.h>

typedef struct vp_bell vp_bell;

/* Bytes that a bell takes. */
uint64_t vp_bell_size(void);

/* How often it was rung, modulo 2^32. */
uint32_t vp_bell_ticket(const vp_bell *bell);

/* Sleeps until the bell has been rung since the ticket was taken, the time is over or a signal came;
 * now and then it returns for nothing. */
void vp_bell_wait(vp_bell *bell, uint32_t ticket, int64_t timeout_ns);

/* Wakes all who sleep. No system call while nobody does. */
void vp_bell_ring(vp_bell *bell);

/* For the successor of a thread that died asleep, before it sleeps itself: nobody else may be asleep. */
void vp_bell_take_over(vp_bell *bell);

#endif
