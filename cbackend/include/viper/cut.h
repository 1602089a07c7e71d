/* The cut: the time behind which the tasks of a source stop together, so that what they have brought is all
 * that lies before it, and nothing else. */
#ifndef VIPER_CUT_H
#define VIPER_CUT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct vp_cut vp_cut;

/* Bytes that a cut of so many members takes. */
uint64_t vp_cut_size(uint32_t members);

/* Makes a cut out of a region; no member has said anything. */
vp_cut *vp_cut_format(void *region, uint32_t members);

/* A member says how far it has come, and goes no further until all have. Only the first word counts: who
 * takes the place of one that died is bound by what that has said. */
void vp_cut_say(vp_cut *cut, uint32_t member, int64_t time);

/* Whether all have spoken; then the cut, which never changes again, is the latest of what they have said. */
bool vp_cut_agreed(const vp_cut *cut, int64_t *time);

#endif
