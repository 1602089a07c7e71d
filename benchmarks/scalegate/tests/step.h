/* Put before every source file of test_interleaving: others take steps between those of a source. */
#ifndef SCALEGATE_STEP_H
#define SCALEGATE_STEP_H

void take_a_step(void);
#define SL_STEP() take_a_step()

#endif
