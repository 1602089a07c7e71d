/^void vp_head_release/,/^}/{
s/    VP_CRASH_POINT("release: not yet");/    bool wanted = atomic_load(\&ring->room.wanting);\n&/
s/if (!atomic_load_explicit(wanting, memory_order_seq_cst))/if (!wanted)/
}
