/^            vp_claim_tell(gate, reader);$/d
