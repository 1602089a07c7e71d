/* Runs of one jumbo tuple put together: what is made once per run would cost more than the tuples where runs are short. */
#include "viper/merge.h"

#include <stdbool.h>

/* Whether `place` is that of a joined run that a run goes on with, which is of the same jumbo tuple. */
static bool goes_on(const vp_run *runs, uint32_t joined, uint32_t place, vp_run run)
{
    return place < joined && runs[place].source == run.source && runs[place].slot == run.slot;
}

uint32_t vp_runs_join(vp_run *runs, uint32_t made, uint32_t *last, uint16_t *order)
{
    uint32_t joined = 0;
    for (uint32_t i = 0; i < made; i++) {
        vp_run run = runs[i];
        uint32_t place = last[run.source]; /* of an earlier call, perhaps: then it is no place of this source's */
        if (goes_on(runs, joined, place, run)) {
            runs[place].count += run.count;
        } else {
            place = last[run.source] = joined++;
            runs[place] = run;
        }
        for (uint32_t j = 0; j < run.count; j++)
            *order++ = (uint16_t)place;
    }
    return joined;
}
