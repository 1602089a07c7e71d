/* A life: a lock that a process holds until it dies, so that another one hears of its death at once.
 *
 * What else tells of a death comes late: a process closes its pipes, and is waited for, only once its memory is
 * released, which takes some 40 ms for each gigabyte that it had mapped. The kernel gives robust locks back before.
 */
#ifndef VIPER_LIFE_H
#define VIPER_LIFE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct vp_life vp_life;

/* Bytes that a life takes. */
uint64_t vp_life_size(void);

/* Makes a life out of a region; NULL where the system knows no robust locks. */
vp_life *vp_life_format(void *region);

/* Takes the lock, for the calling thread: it is given back when that thread ends. Waits for whoever has it. */
bool vp_life_begin(vp_life *life);

/* Sleeps until nobody has the lock. Other threads of the process that had it may still run for a moment. */
bool vp_life_await_end(vp_life *life);

#endif
