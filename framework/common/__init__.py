"""What any part may use, and what knows no part: units, prints, lifelines and breakpoints."""
