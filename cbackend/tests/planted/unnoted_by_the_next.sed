/^        vp_claim_note(gate, last);$/d
