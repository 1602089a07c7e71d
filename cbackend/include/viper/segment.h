/* Segments: memory that several processes map, as a file descriptor. */
#ifndef VIPER_SEGMENT_H
#define VIPER_SEGMENT_H

#include <stdint.h>

/* A zeroed segment without a name, which cannot change its size any more. Returns its descriptor,
 * or -1: see errno, which is ENOSYS where the system knows no such thing. */
int vp_segment_anonymous(uint64_t size);

/* The same for systems without: made under a name, which is free again when this returns. Who dies
 * on the way leaves the name behind. */
int vp_segment_named(const char *name, uint64_t size);

/* Frees a name that was left behind; 0, or -1: see errno. */
int vp_segment_remove(const char *name);

#endif
