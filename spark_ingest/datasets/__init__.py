"""Prepared datasets on disk: folders of Parquet files with a manifest, that appear whole or not at all."""
