/* What each operation on a table costs beside what it does, in programs that measure dear ones. It costs nothing where
 * these are not built. */
#ifndef VIPER_COST_H
#define VIPER_COST_H

#ifdef VP_OPERATION_COSTS
#include <stdint.h>

extern uint32_t vp_operation_cost; /* 0: none */
void vp_operation_burn(void);
#define VP_OPERATION_COST() (vp_operation_cost ? vp_operation_burn() : (void)0)
#else
#define VP_OPERATION_COST() ((void)0)
#endif

#endif
