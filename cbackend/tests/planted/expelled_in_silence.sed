/^void vp_gate_expel_reader/,/^}/s/vp_wake_source(.*);/(void)source;/
