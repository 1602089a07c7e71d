# The next serial number goes on before the slot is emptied.
/slot->count, 0, memory_order_relaxed/d
s|^( *)slot = slot_of\(buffer, next\);|\1atomic_store_explicit(\&slot->count, 0, memory_order_relaxed);\n&|
