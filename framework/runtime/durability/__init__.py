"""State that outlives a process: by declaration, for the successor of a killed worker, and in checkpoints."""
