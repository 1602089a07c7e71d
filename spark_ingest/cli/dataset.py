"""``viper dataset``: what is in a prepared dataset."""

from __future__ import annotations

from pathlib import Path

import click

from framework.common.prints import prints_to_stderr


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the manifest, which is JSON.")
def dataset(folder: Path, as_json: bool) -> None:
    """Show what is in the prepared dataset FOLDER; its files are compared with what it says of them."""
    from spark_ingest.cli.summary import all_lines
    from spark_ingest.datasets import manifest
    from spark_ingest.datasets.dataset import Dataset

    with prints_to_stderr():
        found = Dataset.open(folder)
        text = manifest.to_json(found.manifest) if as_json else "\n".join(all_lines(found)) + "\n"
    click.echo(text, nl=False)
