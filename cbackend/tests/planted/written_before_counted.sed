/VP_CRASH_POINT("write: counted");/d
/^    atomic_store_explicit(&writer->undo->length, ++writer->length, memory_order_relaxed);$/d
s/^    atomic_store_explicit(word, value, memory_order_relaxed);/&\n    VP_CRASH_POINT("write: counted");\n    atomic_store_explicit(\&writer->undo->length, ++writer->length, memory_order_relaxed);/
