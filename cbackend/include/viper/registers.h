/* Registers: words in shared memory, each written by one task or process, and read by all.
 *
 * Whoever reads a word also sees what its writer has done before. And of two that each write their own word and then
 * read the other's, at least one sees what the other has written. */
#ifndef VIPER_REGISTERS_H
#define VIPER_REGISTERS_H

#include <stdint.h>

typedef struct vp_registers vp_registers;

/* Bytes that so many registers take. */
uint64_t vp_registers_size(uint32_t count);

/* Makes registers out of a region; all hold 0. */
vp_registers *vp_registers_format(void *region, uint32_t count);

void vp_register_write(vp_registers *registers, uint32_t index, int64_t value);

int64_t vp_register_read(const vp_registers *registers, uint32_t index);

#endif
