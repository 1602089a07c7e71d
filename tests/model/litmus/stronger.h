/* Ends a planted weakening. */
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_seq_cst
