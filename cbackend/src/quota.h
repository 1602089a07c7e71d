/* How a quota lies in its region. */
#ifndef VIPER_QUOTA_LAYOUT_H
#define VIPER_QUOTA_LAYOUT_H

#include <stdalign.h>
#include <stdatomic.h>

#include "layout.h"
#include "viper/quota.h"

struct vp_quota {
    int64_t limit;         /* INT64_MAX: none */
    _Atomic int64_t left;  /* neither spent nor taken */
    _Atomic int64_t spent;
};

/* Behind the quota, each on lines of its own. */
struct vp_account {
    alignas(VP_LINE) _Atomic int64_t held; /* taken and not settled; more for a moment, never less */
};

#endif
