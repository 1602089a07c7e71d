s/^    sl_run_begin\(gate, source\);/    atomic_store(\&own->written, own->items + own->claimed); sl_run_begin(gate, source);/
