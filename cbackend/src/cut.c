/* Relaxed throughout: the words stand for themselves, nothing is read because of them. Each is written once, so
 * all who find none missing find the same. Progress: wait-free. */
#include <stdalign.h>
#include <stdatomic.h>

#include "layout.h"
#include "viper/cut.h"

/* No word yet; a time that is as small is said as the next one. */
static const int64_t SILENT = INT64_MIN;

struct vp_cut {
    uint32_t members;
    _Atomic int64_t said[];
};

uint64_t vp_cut_size(uint32_t members)
{
    return sizeof(vp_cut) + members * sizeof(int64_t);
}

vp_cut *vp_cut_format(void *region, uint32_t members)
{
    vp_cut *cut = region;
    cut->members = members;
    for (uint32_t i = 0; i < members; i++)
        atomic_init(&cut->said[i], SILENT);
    return cut;
}

void vp_cut_say(vp_cut *cut, uint32_t member, int64_t time)
{
    int64_t silent = SILENT, said = time == SILENT ? SILENT + 1 : time;
    atomic_compare_exchange_strong_explicit(&cut->said[member], &silent, said, memory_order_relaxed,
                                            memory_order_relaxed);
}

bool vp_cut_agreed(const vp_cut *cut, int64_t *time)
{
    int64_t latest = SILENT;
    for (uint32_t i = 0; i < cut->members; i++) {
        int64_t said = atomic_load_explicit(&cut->said[i], memory_order_relaxed);
        if (said == SILENT)
            return false;
        if (said > latest)
            latest = said;
    }
    *time = latest;
    return true;
}
