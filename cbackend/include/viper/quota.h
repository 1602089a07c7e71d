/* The quota: a budget that tasks of several processes share, such as the tuples of a limited run. */
#ifndef VIPER_QUOTA_H
#define VIPER_QUOTA_H

#include <stdint.h>

typedef struct vp_quota vp_quota;

/* Bytes that a quota takes. */
uint64_t vp_quota_size(void);

/* Makes a quota out of a region; INT64_MAX is no limit. */
vp_quota *vp_quota_format(void *region, int64_t limit);

/* Takes as many as are wanted, or as are left, at once. Returns how many. */
int64_t vp_quota_take(vp_quota *quota, int64_t wanted);

/* Gives back what was taken and not needed. */
void vp_quota_give(vp_quota *quota, int64_t count);

/* Takes that many even where fewer are left. */
void vp_quota_spend(vp_quota *quota, int64_t count);

/* What is left: below zero where more was spent, INT64_MAX without a limit. */
int64_t vp_quota_left(const vp_quota *quota);

#endif
