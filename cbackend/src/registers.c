/* Sequentially consistent throughout: the two who write and then read the other's word need one order of all four
 * steps. The words are few, and written seldom. Progress: wait-free. */
#include <stdatomic.h>

#include "viper/registers.h"

struct vp_registers {
    uint32_t count;
    _Atomic int64_t words[];
};

uint64_t vp_registers_size(uint32_t count)
{
    return sizeof(vp_registers) + count * sizeof(int64_t);
}

vp_registers *vp_registers_format(void *region, uint32_t count)
{
    vp_registers *registers = region;
    registers->count = count;
    for (uint32_t i = 0; i < count; i++)
        atomic_init(&registers->words[i], 0);
    return registers;
}

void vp_register_write(vp_registers *registers, uint32_t index, int64_t value)
{
    atomic_store_explicit(&registers->words[index], value, memory_order_seq_cst);
}

int64_t vp_register_read(const vp_registers *registers, uint32_t index)
{
    return atomic_load_explicit(&registers->words[index], memory_order_seq_cst);
}
