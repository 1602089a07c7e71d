s/VP_CRASH_POINT("bell: not yet");/uint32_t asleep = atomic_load(\&bell->sleepers); &/
s/if (atomic_load_explicit(&bell->sleepers, memory_order_seq_cst) > 0)/if (asleep > 0)/
