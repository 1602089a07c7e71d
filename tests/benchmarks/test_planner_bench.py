from pathlib import Path

import pytest

from benchmarks.planner import applications, comparing, machines
from framework.optimizer.search import Rlas


@pytest.mark.parametrize("application", applications.applications(), ids=lambda each: each.name)
def test_each_application_can_be_planned(application: applications.Application) -> None:
    point = comparing.compared(application, 2, plans=5, seed=1)
    assert point.random <= point.bound
    assert point.rlas <= point.without_fetches * (1 + 1e-9)
    assert point.rlas < point.counts <= point.bound


def test_round_robin_keeps_the_numbers_of_replicas_and_uses_sockets_alike() -> None:
    problem = applications.word_count().on(3)
    found = Rlas(limit=20).best(problem).deployment
    turned = comparing.in_turns(problem, found)
    assert {name: turned.count(name) for name in turned.tasks} == {n: found.count(n) for n in found.tasks}
    places = [place for places in turned.tasks.values() for place in places]
    assert max(map(places.count, range(3))) - min(map(places.count, range(3))) <= 1


def test_random_plans_are_repeated_by_their_seed() -> None:
    problem = applications.linear_road().on(2)
    one, same, other = (list(comparing.random_plans(problem, 3, seed)) for seed in (1, 1, 2))
    assert one == same != other
    assert all(sum(map(len, plan.tasks.values())) <= 36 for plan in one)


def test_the_page_and_the_figure_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{machines.BEGIN}\nold\n{machines.END}\nafter\n")
    options = [
        "--sockets",
        "1",
        "--plans",
        "2",
        "--limit",
        "20",
        "--page",
        str(page),
        "--figures",
        str(tmp_path),
    ]
    machines.main(options)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text
    assert "104,843.3" in text
    assert text.count("| splitter | S") == 4
    assert "Word count" in (tmp_path / machines.FIGURE).read_text()
    assert "104,843.3" in capsys.readouterr().out


def test_a_page_without_a_place_for_tables_is_refused() -> None:
    with pytest.raises(ValueError, match="needs the comments"):
        machines.with_tables("nothing", [])
