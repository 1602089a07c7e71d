/* How a quota lies in its region. */
#ifndef VIPER_QUOTA_LAYOUT_H
#define VIPER_QUOTA_LAYOUT_H

#include <stdatomic.h>

#include "viper/quota.h"

struct vp_quota {
    int64_t limit;         /* INT64_MAX: none */
    _Atomic int64_t left;  /* neither spent nor taken */
    _Atomic int64_t spent;
};

#endif
