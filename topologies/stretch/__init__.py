"""The evaluation of STRETCH (IEEE TPDS 2022): its queries, on data that is drawn from a seed."""
