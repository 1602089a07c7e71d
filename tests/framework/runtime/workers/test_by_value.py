"""Code that no other process finds by a name: of sessions, scripts and lambdas; sent by cloudpickle."""

from __future__ import annotations

import importlib.util
import os
import pty
import select
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.framework.runtime.workers.conftest import REPOSITORY

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("cloudpickle") is None, reason="wants the extra `notebook`"
)

SESSION = """
import dataclasses, enum, functools, os, sys, threading, typing
from viperstorm import *
from viperstorm.sinks import CollectingSink

class Numbers(Spout):
    outputs = ["n"]
    def tuples(self):
        for n in range(4):
            yield [n]

class Call(Bolt):
    outputs = ["value"]
    def __init__(self, f): self.f = f
    def process(self, tup): self.emit([self.f(tup.values[0])])

def topology(bolt, *args):
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers)
    builder.set_bolt("middle", bolt, args=args).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("middle")
    return builder

def rows(built, **how):
    return run(built, **how).result("sink")

def both(bolt, *args):
    found = [rows(topology(bolt, *args), **how) for how in ({}, {"workers": 2}, {"workers": 3})]
    assert found[0] == found[1] == found[2], found
    assert repr(found[0]) == repr(found[1]) == repr(found[2]), found
    return found[0]

"""


def python(*arguments: str, text: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        input=text,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def session(code: str) -> str:
    """The output of a program that is typed in, with the beginning of a session."""
    ran = python("-", text=SESSION + textwrap.dedent(code))
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def refused(code: str) -> str:
    """The last line of what such a program ends with."""
    ran = python("-", text=SESSION + textwrap.dedent(code))
    assert ran.returncode == 1
    return ran.stderr.rstrip().splitlines()[-1]


def test_classes_of_a_session_are_the_same_on_both_sides() -> None:
    """Values of them go from worker to worker and to the session, and are instances of its classes."""
    code = """
        @dataclasses.dataclass
        class Point:
            x: int
        class Pair(typing.NamedTuple):
            a: int
        class Color(enum.Enum):
            RED = 1
        class Outer:
            @dataclasses.dataclass(frozen=True, slots=True)
            class Inner:
                n: int
        class Emits(Bolt):
            outputs = ["value"]
            def process(self, tup):
                n = tup.values[0]
                for value in (Point(n), Pair(n), Color.RED, Outer.Inner(n), [Point(n)], Point):
                    self.emit([value])
        class Sees(Bolt):
            outputs = ["value", "sees"]
            def process(self, tup):
                value = tup.values[0]
                kinds = [cls.__name__ for cls in (Point, Pair, Color, Outer.Inner) if isinstance(value, cls)]
                self.emit([value, [*kinds, value is Color.RED, value is Point]])

        def found(**how):
            built = topology(Emits)
            built.set_bolt("sees", Sees).shuffle_grouping("middle")
            built.set_bolt("last", CollectingSink).global_grouping("sees")
            return run(built, **how).result("last")

        assert found() == found(workers=3), found(workers=3)
        assert repr(found()) == repr(found(workers=3))
        first = found(workers=3)[:6]
        assert [type(value) for value, sees in first] == [Point, Pair, Color, Outer.Inner, list, type]
        assert first[5][0] is Point
        print([sees for value, sees in first])
    """
    assert session(code) == (
        "[['Point', False, False], ['Pair', False, False], ['Color', True, False], "
        "['Inner', False, False], [False, False], [False, True]]\n"
    )


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "@functools.lru_cache(maxsize=2)\ndef twice(n): return n and twice(n - 1) + 2\n"
            "print(both(Call, lambda n: twice(n) + twice.cache_parameters()['maxsize']))",
            "[(2,), (4,), (6,), (8,)]",
        ),
        (
            "class Kept(Bolt):\n"
            "    outputs = ['value']\n"
            "    @functools.cached_property\n"
            "    def ten(self): return 10\n"
            "    def process(self, tup): self.emit([tup.values[0] + self.ten])\n"
            "print(both(Kept))",
            "[(10,), (11,), (12,), (13,)]",
        ),
        (
            "@functools.singledispatch\ndef kind(value): return 'other'\n"
            "@kind.register\ndef _(value: int): return 'int'\n"
            "print(both(Call, lambda n: kind(n) if n else kind('')))",
            "[('other',), ('int',), ('int',), ('int',)]",
        ),
        ("print(both(Call, lambda n: 2 * n))", "[(0,), (2,), (4,), (6,)]"),
        ("print(both(Call, functools.partial(pow, 2)))", "[(1,), (2,), (4,), (8,)]"),
        ("print(both(Call, functools.partial(lambda a, n: a - n, 9)))", "[(9,), (8,), (7,), (6,)]"),
        ("def add(n): return n + ten\nten = 10\nprint(both(Call, add))", "[(10,), (11,), (12,), (13,)]"),
        (
            "def around():\n"
            "    table = list('abcd')\n"
            "    class Local(Bolt):\n"
            "        outputs = ['value']\n"
            "        def process(self, tup): self.emit([(table[tup.values[0]], type(self).__qualname__)])\n"
            "    return Local\n"
            "print(both(around())[3])",
            "(('d', 'around.<locals>.Local'),)",
        ),
        (
            "class Base(Bolt):\n"
            "    outputs = ['value']\n"
            "    def process(self, tup): self.emit([self.f(tup.values[0])])\n"
            "class Derived(Base):\n"
            "    def initialize(self, conf, context): super().initialize(conf, context); self.more = 1\n"
            "    @staticmethod\n"
            "    def twice(n): return 2 * n\n"
            "    def f(self, n): return self.twice(n) + self.more\n"
            "print(both(Derived))",
            "[(1,), (3,), (5,), (7,)]",
        ),
    ],
    ids=[
        "cache",
        "property",
        "dispatch",
        "lambda",
        "partial",
        "partial of a lambda",
        "function with a global",
        "local class",
        "derived",
    ],
)
def test_code_without_a_name_runs_as_it_does_here(code: str, expected: str) -> None:
    assert session(code) == f"{expected}\n"


def test_functions_of_a_stream_builder() -> None:
    code = """
        @dataclasses.dataclass
        class Sum:
            n: int = 0
        def results(**how):
            builder = StreamBuilder()
            kept = builder.new_stream(Numbers).filter(lambda n: n > 0).peek(lambda n: None)
            odd, even = kept.branch(lambda n: n % 2, lambda n: True)
            pairs = odd.union(even).map(lambda n: (n % 2, n), fields=["k", "n"])
            pairs.key_by("k").reduce_by_key(lambda a, b: a + b).to(CollectingSink)
            by_text = pairs.map(lambda k, n: (str(k), n), fields=["k", "n"])
            by_text.key_by("k").aggregate_by_key(Sum, lambda sum, n: Sum(sum.n + n)).to(CollectingSink)
            return run(builder, **how).results
        assert results() == results(workers=2) == results(workers=3)
        print(results(workers=2))
    """
    ran = session(code)
    assert "[(1, 1), (0, 2), (1, 4)]" in ran and "Sum(n=4)" in ran


def test_a_class_that_was_defined_once_more_is_the_one_that_the_topology_has() -> None:
    code = """
        class Says(Bolt):
            outputs = ["value"]
            def process(self, tup): self.emit(["old"])
        old = topology(Says)
        class Says(Bolt):
            outputs = ["value"]
            def process(self, tup): self.emit(["new"])
        print(rows(old)[0], rows(old, workers=2)[0], both(Says)[0])
    """
    assert session(code) == "('old',) ('old',) ('new',)\n"


@pytest.mark.slow
def test_values_of_a_class_that_was_defined_once_more_are_refused() -> None:
    code = """
        class Value: pass
        Old = Value
        class Emits(Bolt):
            outputs = ["value"]
            def process(self, tup): self.emit([Old()])
        class Value: pass
        rows(topology(Emits), workers=2)
    """
    ran = python("-", text=SESSION + textwrap.dedent(code))
    assert "EmitError: cannot carry <__main__.Value object" in ran.stderr


def test_results_are_of_the_classes_that_the_run_began_with() -> None:
    """A cell may define a class again while a run continues in another thread."""
    code = """
        @dataclasses.dataclass
        class Value:
            n: int
        class Emits(Bolt):
            outputs = ["value"]
            def process(self, tup): self.emit([Value(tup.values[0])])
        began, defined = threading.Event(), threading.Event()
        def define(progress):
            began.set()
            defined.wait()
        found = []
        thread = threading.Thread(
            target=lambda: found.extend(run(topology(Emits), workers=2, on_progress=define).result("sink"))
        )
        thread.start()
        began.wait()
        Old = Value
        class Value: pass
        defined.set()
        thread.join()
        print([type(value) is Old for value, in found])
    """
    assert session(code) == "[True, True, True, True]\n"


IN_THE_WAY = (
    "make it in initialize(), where each task gets one of its own, or run it with --worker inline "
    "(viper.worker)"
)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("code", "where"),
    [
        ("lock = threading.Lock()\ndef f(n):\n    with lock: return n", "attribute"),
        (
            "def around():\n    lock = threading.Lock()\n    return lambda n: lock and n\nf = around()",
            "'lock' of",
        ),
        ("f = functools.partial(print, threading.Lock())", ""),
        (
            "file = open(os.devnull)\ndef f(n): return file.read()",
            "the global 'file': cannot pickle the open file",
        ),
        ("file = open(os.devnull, 'rb')\ndef f(n): return file.read()", "the global 'file': cannot pickle"),
        (
            "rest = (n for n in range(9))\ndef f(n): return next(rest)",
            "the global 'rest': cannot pickle 'generator'",
        ),
        (
            "def inner(n): return lock and n\nlock = threading.Lock()\ndef f(n): return inner(n)",
            "the global 'inner', ",
        ),
    ],
    ids=[
        "lock",
        "lock in a closure",
        "lock in a partial",
        "file",
        "binary file",
        "generator",
        "what it calls",
    ],
)
def test_what_cannot_be_carried_is_named(code: str, where: str) -> None:
    found = refused(f"{code}\nrows(topology(Call, f), workers=2)")
    assert "bolt 'middle' cannot be carried to another process: " in found
    assert where.replace("attribute", "the global 'lock': cannot pickle '_thread.lock' object") in found
    assert found.endswith(IN_THE_WAY)


@pytest.mark.slow
def test_a_heavy_global_is_named() -> None:
    code = """
        table = bytes(20_000_000)
        print(rows(topology(Call, lambda n: table[n]), workers=2))
    """
    ran = python("-", text=SESSION + textwrap.dedent(code))
    assert ran.stdout == "[(0,), (0,), (0,), (0,)]\n"
    (warning,) = ran.stderr.splitlines()
    assert "each worker process is sent 20,0" in warning
    assert warning.endswith("most of it for 'middle' (the global 'table'): read such data in initialize()")


@pytest.mark.slow
def test_a_traceback_has_the_lines_of_a_session() -> None:
    code = """
        import linecache
        lines = ["def fails(n):\\n", "    return 1 // (n - 2)\\n"]
        linecache.cache["<cell 1>"] = (50, None, lines, "<cell 1>")
        exec(compile("".join(lines), "<cell 1>", "exec"))
        rows(topology(Call, fails), workers=2)
    """
    ran = python("-", text=SESSION + textwrap.dedent(code))
    assert '  File "<cell 1>", line 2, in fails\n    return 1 // (n - 2)\n' in ran.stderr


@pytest.mark.slow
def test_a_successor_has_the_code_that_the_run_began_with(tmp_path: Path) -> None:
    code = f"""
        said = "old"
        class Numbers(SeekableSpout):
            outputs = ["n"]
            at = 0
            def tuples(self):
                while self.at < 4:
                    self.at += 1
                    yield [self.at]
            def offset(self): return self.at
            def seek(self, offset): self.at = offset
        class Dies(Bolt):
            config = {{"viper.stateless": True}}
            outputs = ["value"]
            def process(self, tup):
                if not os.path.exists({str(tmp_path / "died")!r}):
                    open({str(tmp_path / "died")!r}, "w").close()
                    os._exit(1)
                self.emit([said])
        def change(progress):
            global said
            said = "new"
        CollectingSink.config = {{"viper.stateless": True}}
        report = run(topology(Dies), workers=2, on_progress=change, conf={{"viper.recovery": "exact"}})
        print(len(report.incidents), report.result("sink"))
    """
    ran = python("-", text=SESSION + textwrap.dedent(code))
    assert ran.stdout == "1 [('old',), ('old',), ('old',), ('old',)]\n", ran.stderr


# -- scripts

GUARDED = """
if __name__ == "__main__":
    print(both({what}))
"""


def script(folder: Path, code: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = folder / "script.py"
    path.write_text(SESSION + textwrap.dedent(code))
    return python(*options, str(path), **environment)


def test_a_script_without_a_guard_may_have_lambdas(tmp_path: Path) -> None:
    ran = script(tmp_path, "print(both(Call, lambda n: 2 * n))")
    assert (ran.stdout, ran.stderr) == ("[(0,), (2,), (4,), (6,)]\n", "")


def test_classes_of_a_script_have_one_name_in_all_processes(tmp_path: Path) -> None:
    code = """
        import pickle
        class Value:
            class Inner: pass
        class Names(Bolt):
            outputs = ["value"]
            def process(self, tup):
                text = f"{Value} {Value.Inner} {type(self)} {Names.process.__module__}"
                self.emit([(text, pickle.dumps(Value()), pickle.dumps(Value.Inner()), Value)])
        if __name__ == "__main__":
            print(both(Names)[0][0][0])
    """
    ran = script(tmp_path, code)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == (
        "<class '__main__.Value'> <class '__main__.Value.Inner'> <class '__main__.Names'> __main__\n"
    )


def test_a_script_whose_class_is_another_one_in_a_worker_is_refused(tmp_path: Path) -> None:
    code = """
        class Says(Bolt):
            outputs = ["value"]
            def process(self, tup): self.emit(["one"])
        if __name__ == "__main__":
            class Says(Bolt):
                outputs = ["value"]
                def process(self, tup): self.emit(["other"])
            rows(topology(Says), workers=2)
    """
    ran = script(tmp_path, code)
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1] == (
        "framework.model.errors.LoadError: 'middle': __main__.Says is another one in worker processes, which "
        "import it again: define it the same under every condition; if the file has changed since, import it "
        "again (importlib.reload) and make the topology again, or run it with --worker inline (viper.worker)"
    )


def test_what_a_script_sets_under_its_guard_is_told(tmp_path: Path) -> None:
    code = """
        limit = 1
        class Adds(Bolt):
            outputs = ["value"]
            def process(self, tup): self.emit([tup.values[0] + limit])
        if __name__ == "__main__":
            limit = 10
            print(rows(topology(Adds), workers=2)[0])
    """
    ran = script(tmp_path, code)
    assert ran.stdout == "(1,)\n"
    (warning,) = ran.stderr.splitlines()
    assert warning.partition("] ")[2] == (
        "'middle': limit is 10 in the script and 1 in its worker processes, which load it with another "
        '__name__: set it outside of `if __name__ == "__main__"`, or give it to the component as an argument'
    )


@pytest.mark.slow
def test_what_a_script_calls_that_is_another_one_is_told(tmp_path: Path) -> None:
    code = """
        def more(n): return n + 1
        class Adds(Bolt):
            outputs = ["value"]
            def process(self, tup): self.emit([more(tup.values[0])])
        if __name__ == "__main__":
            def more(n): return n + 10
            print(rows(topology(Adds), workers=2)[0])
    """
    ran = script(tmp_path, code)
    assert ran.stdout == "(1,)\n"
    assert "'middle': the code that __main__.Adds calls is another one in worker processes, " in ran.stderr


def test_a_script_that_is_the_same_in_its_workers_is_told_nothing(tmp_path: Path) -> None:
    code = """
        import time
        BEGAN = time.time()
        cache, limit = {}, float("nan")
        class Adds(Bolt):
            outputs = ["value"]
            seen = []
            def process(self, tup, known={}): self.emit([tup.values[0] + 1 if limit != 1 else cache])
        if __name__ == "__main__":
            cache["a"] = 1
            Adds.seen.append(1)
            Adds.process.__defaults__[0]["b"] = 2
            print(rows(topology(Adds), workers=2)[0])
    """
    ran = script(tmp_path, code)
    assert (ran.stdout, ran.stderr) == ("(1,)\n", "")


MODULE = """
from viperstorm import Bolt
{more}
class Says(Bolt):
    outputs = ["value"]
    def process(self, tup): self.emit([{says}])
"""


def test_a_module_that_was_edited_is_refused(tmp_path: Path) -> None:
    (tmp_path / "says.py").write_text(MODULE.format(says="'old'", more=""))
    code = f"""
        import says
        open({str(tmp_path / "says.py")!r}, "w").write({MODULE.format(says="'new one'", more="")!r})
        if __name__ == "__main__":
            print(rows(topology(says.Says))[0])
            rows(topology(says.Says), workers=2)
    """
    ran = python("-c", SESSION + textwrap.dedent(code), PYTHONPATH=f"{REPOSITORY}:{tmp_path}")
    assert ran.stdout == "('old',)\n"
    assert "LoadError: 'middle': says.Says is another one in worker processes, which import it" in ran.stderr


def test_a_class_of_a_module_that_was_imported_again_is_the_one_that_the_topology_has(tmp_path: Path) -> None:
    (tmp_path / "says.py").write_text(MODULE.format(says="'old'", more=""))
    code = f"""
        import importlib, says
        built = topology(says.Says)
        open({str(tmp_path / "says.py")!r}, "w").write({MODULE.format(says="'new one'", more="")!r})
        importlib.reload(says)
        print(rows(built)[0], rows(built, workers=2)[0], both(says.Says)[0])
    """
    ran = python("-c", SESSION + textwrap.dedent(code), PYTHONPATH=f"{REPOSITORY}:{tmp_path}")
    assert (ran.stdout, ran.stderr) == ("('old',) ('old',) ('new one',)\n", "")


@pytest.mark.slow
def test_a_function_by_its_path_whose_module_was_edited_is_refused(tmp_path: Path) -> None:
    (tmp_path / "adds.py").write_text("def add(n): return n + 1\n")
    code = f"""
        import adds
        open({str(tmp_path / "adds.py")!r}, "w").write("def add(n): return n + 100\\n")
        builder = StreamBuilder()
        builder.new_stream(Numbers).map(adds.add).to(CollectingSink)
        run(builder, workers=2)
    """
    (tmp_path / "numbers_of.py").write_text(SESSION)
    code = "from numbers_of import *\n" + textwrap.dedent(code)
    ran = python("-c", code, PYTHONPATH=f"{REPOSITORY}:{tmp_path}")
    assert (
        "LoadError: 'add': adds.add is another one in worker processes, which import it again" in ran.stderr
    )


@pytest.mark.slow
def test_a_prompt_behind_a_script_has_its_own_classes(tmp_path: Path) -> None:
    """`python -i` continues after a script, which worker processes would find as it was."""
    (tmp_path / "script.py").write_text(SESSION)
    typed = """
        class Numbers(Spout):
            outputs = ["n"]
            def tuples(self): yield [77]

        print(both(Call, abs), end="|")
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-i", str(tmp_path / "script.py")],
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    os.close(theirs)
    process.communicate(textwrap.dedent(typed).encode() + b"\n")
    shown = b""
    while select.select([ours], [], [], 0)[0]:
        try:
            shown += os.read(ours, 1 << 16)
        except OSError:  # all of it was read
            break
    os.close(ours)
    assert b"[(77,)]|" in shown, shown.decode()


# -- without cloudpickle

WITHOUT = "import sys\nsys.modules['cloudpickle'] = None\n"


def test_without_cloudpickle_a_session_is_told_what_to_install() -> None:
    ran = python("-", text=WITHOUT + SESSION + "rows(topology(Call, len), workers=2)")
    assert ran.returncode == 1
    assert (
        "is the class __main__.Numbers, which another process cannot import: install cloudpickle (pip "
        "install 'cloudpickle>=3.1'), which sends it as it is; or define it at the top level of a "
        "module, or run it with --worker inline (viper.worker)\n"
    ) in ran.stderr


@pytest.mark.slow
def test_without_cloudpickle_a_function_of_a_session_is_named(tmp_path: Path) -> None:
    (tmp_path / "components_of.py").write_text(SESSION)
    code = "from components_of import *\ndef f(n): return n\nrows(topology(Call, f), workers=2)"
    ran = python("-", text=WITHOUT + code, PYTHONPATH=f"{REPOSITORY}:{tmp_path}")
    assert ran.returncode == 1
    assert (
        "bolt 'middle' has an argument or a configuration value that is defined in this session, which"
        in (ran.stderr)
    )


def test_a_run_imports_optional_packages_only_where_it_needs_them() -> None:
    heavy = "cloudpickle numpy pandas pyarrow pystorm sqlalchemy starlette streamparse"
    code = (
        "import sys, viperstorm, framework.runtime.workers.by_value, framework.runtime.workers.main\n"
        f"print(*sorted(set({heavy!r}.split()) & set(sys.modules)))"
    )
    assert python("-c", code).stdout == "\n"
