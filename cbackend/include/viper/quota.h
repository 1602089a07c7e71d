/* The quota: a budget that tasks of several processes share, such as the tuples of a limited run. */
#ifndef VIPER_QUOTA_H
#define VIPER_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

typedef struct vp_quota vp_quota;

/* What one process has taken and not settled: after its death that goes back. */
typedef struct vp_account vp_account;

/* Bytes that a quota takes with so many accounts; a quota alone has none. */
uint64_t vp_quota_size(uint32_t accounts);
vp_account *vp_quota_account(vp_quota *quota, uint32_t index);

/* Makes a quota out of a region; INT64_MAX is no limit. */
vp_quota *vp_quota_format(void *region, int64_t limit);

/* Takes as many as are wanted, or as are left, at once. Returns how many. */
int64_t vp_quota_take(vp_quota *quota, int64_t wanted);

/* Of what was taken, `taken` are done with: `spent` were needed, or even more; the rest goes back. */
void vp_quota_settle(vp_quota *quota, int64_t taken, int64_t spent);

/* What can be taken: nothing where more was spent than there was, INT64_MAX without a limit. */
int64_t vp_quota_left(const vp_quota *quota);

/* Whether all of it was spent. That nothing is left does not say so: it may come back. */
bool vp_quota_used_up(const vp_quota *quota);

/* The same on an account; what several threads of a process do on it adds up. */
int64_t vp_account_take(vp_quota *quota, vp_account *account, int64_t wanted);
void vp_account_settle(vp_quota *quota, vp_account *account, int64_t taken, int64_t spent);

/* After its process died: gives back what it held. */
void vp_account_bury(vp_quota *quota, vp_account *account);

#endif
