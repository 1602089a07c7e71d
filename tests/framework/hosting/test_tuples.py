"""A tuple is a named tuple of named values, as streamparse makes it, and goes wherever values go."""

from __future__ import annotations

import copy
import pickle
from types import ModuleType

from tests.framework.hosting import ported
from tests.framework.hosting.kinds import both, chain, everywhere
from tests.framework.runtime.workers.running import Workers


@both
@everywhere
def test_it_is_a_tuple_with_fields(workers: Workers, base: ModuleType) -> None:
    class_name = "SourceDefaultTuple"
    ((fields, names, as_dict, joined, columns, tup),) = workers.run(
        chain(base.Words, base.SaysTuple), rows=[["dog", 3]]
    ).result("sink")
    assert fields == ("id", "component", "stream", "task", "values")
    assert names == ("word", "n")
    assert as_dict == {"word": "dog", "n": 3}
    assert joined == ("source", "default", "dog", 3, "dog", 3)
    assert [(row["component"], row["values"]) for row in columns] == [("source", ("dog", 3))] * 2
    assert type(tup).__module__.partition(".")[0] == ("pystorm" if base is ported else "framework")
    assert (type(tup.values).__name__, tup.values.word, tup.values[1]) == (class_name, "dog", 3)
    for again in (pickle.loads(pickle.dumps(tup)), copy.deepcopy(tup)):
        assert (again, type(again), again.values.n) == (tup, type(tup), 3)
        assert type(again.values) is type(tup.values)
