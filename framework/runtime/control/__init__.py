"""How a run is stopped, paused and asked from outside; what runs beside its spouts; where its stdout goes."""
