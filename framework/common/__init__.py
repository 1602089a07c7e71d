"""Helpers that any part may use, and that know no part: units, prints, lifelines and breakpoints."""
