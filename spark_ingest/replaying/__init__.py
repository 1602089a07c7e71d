"""Reading streams as a spout's blocks: Parquet files and Arrow batches become plain Python values."""
