"""Spark itself: the Java that it needs, its sessions, its progress, and what its failures mean."""
