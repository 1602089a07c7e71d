/* How a quota lies in its region. */
#ifndef VIPER_QUOTA_LAYOUT_H
#define VIPER_QUOTA_LAYOUT_H

#include <stdatomic.h>

#include "viper/quota.h"

struct vp_quota {
    _Atomic int64_t left; /* INT64_MAX: no limit */
};

#endif
