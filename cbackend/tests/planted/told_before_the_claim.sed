/^            vp_claim_tell(gate, reader);$/d
s/^        VP_CRASH_POINT("claim: not exchanged");$/        vp_claim_tell(gate, reader);\n&/
