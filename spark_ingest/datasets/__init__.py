"""Prepared datasets on disk: folders of files with a manifest, that appear whole or not at all."""
