"""The fixtures that tests of TPCx-BB's queries share: their modules, and their input as files of Parquet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.topologies.tpcx_bb.cases import TOPOLOGIES, Files, files_in


@pytest.fixture(scope="session", autouse=True)
def path() -> Iterator[None]:
    """Add the folder of the queries to the path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(TOPOLOGIES))
        yield


@pytest.fixture(scope="session")
def files(path: None, tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The files, by the name of the query that reads each."""
    return files_in(tmp_path_factory.mktemp("tpcx"))


@pytest.fixture(scope="session")
def few(path: None, tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The same with fewer rows, for runs with next to no room between tasks."""
    return files_in(tmp_path_factory.mktemp("tpcx"), 1_500)
