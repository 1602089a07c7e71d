"""The addresses of the web view, asked while a run continues."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from framework import Bolt, TopologyBuilder, ValueState
from framework.model.errors import SuspendError
from framework.runtime.leading.describing import Describing
from framework.runtime.observation.counters import bound_s
from framework.runtime.run import Run
from framework.web.app import RunApp
from framework.web.prometheus import _buckets
from framework.web.watch import RunWatch
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.workers.running import Workers, every_kind
from tests.framework.web.asking import Client
from tests.framework.web.conftest import COUNT, SHARED, Waiting, going_on, shown, until

KEPT = COUNT - COUNT // 10
"""Tuples that come to the sink."""


class TestPage:
    def test_it_shows_what_the_run_does(self, client: Client) -> None:
        seen = client.get("/api/run").json()
        counts = {each["id"]: (each["emitted"], each["processed"]) for each in seen["snapshot"]["components"]}
        assert counts == {"orders": (COUNT, 0), "picky": (KEPT, COUNT), "sink": (0, KEPT)}
        assert (seen["state"], len(seen["samples"])) == ("running", 1)

    def test_rates_and_curves_come_with_the_second_look(self, client: Client, watch: RunWatch) -> None:
        watch.look()
        seen = client.get("/api/run").json()
        assert set(seen["rates"]) == {"orders", "picky", "sink"}
        assert {"rate", "busy", "idle", "capacity", "p50_s", "p99_s"} <= set(seen["rates"]["picky"])
        first, second = seen["samples"]
        assert (first["number"], second["number"]) == (1, 2)
        assert {"rate", "capacity", "p50_s", "p99_s", "fill"} == set(second["components"]["picky"])
        assert [s["number"] for s in client.get("/api/run?since=1").json()["samples"]] == [2]

    def test_a_number_that_is_none_begins_at_the_beginning(self, client: Client) -> None:
        assert len(client.get("/api/run?since=x").json()["samples"]) == 1

    def test_it_knows_what_the_run_is(self, client: Client) -> None:
        told = client.get("/api/run/description").json()
        assert [each["id"] for each in told["components"]] == ["orders", "picky", "sink"]
        assert {(s["source"], s["target"], s["grouping"]) for s in told["streams"]} == {
            ("orders", "picky", "shuffle"),
            ("picky", "sink", "global"),
        }
        assert all(setting["origin"] for setting in told["settings"])

    def test_errors_have_their_line(self, client: Client) -> None:
        picky = client.get("/api/run").json()["snapshot"]["components"][1]
        (site,) = picky["error_sites"]
        assert (site["kind"], site["message"], site["count"]) == ("ValueError", "a tenth", COUNT // 10)
        assert site["place"].startswith("conftest.py:") and site["place"].endswith(" in process")

    def test_channels_executors_and_stacks(self, client: Client) -> None:
        statistics = client.get("/api/run/statistics").json()
        assert {s["task"].split(":")[0] for c in statistics["channels"] for s in c["sources"]} == {
            "orders",
            "picky",
        }
        assert statistics["executors"][0]["turns"] > 0
        assert set(client.get("/api/run/stacks").json()) == {"tasks", "others", "silent"}

    @pytest.mark.parametrize("path", ["/", "/static/page.js", "/static/page.css", "/static/icon.svg"])
    def test_the_page_loads_nothing_from_elsewhere(self, client: Client, path: str) -> None:
        answer = client.get(path)
        assert answer.status == 200
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        without_namespaces = answer.text.replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in without_namespaces and "https://" not in without_namespaces


class TestCommands:
    def test_scale(self, client: Client, run: Run) -> None:
        assert client.post("/api/run/scale", {"tasks": {"picky": 4}}).status == 200
        assert run.look().components[1].parallelism == 4

    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ({"tasks": {"picky": 9}}, "9"),
            ({"tasks": {"orders": 2}}, "orders"),
            ({"tasks": {"picky": "2"}}, "expected the number by component"),
            ({"tasks": {"picky": True}}, "expected the number by component"),
            ({"tasks": {}}, "expected the number by component"),
            ({}, "expected the number by component"),
            ([1], "no JSON object"),
        ],
    )
    def test_what_cannot_be_is_refused_with_the_reason(
        self, client: Client, run: Run, body: object, message: str
    ) -> None:
        answer = client.post("/api/run/scale", body)
        assert answer.status == 400 and message in answer.json()["errorMessage"]
        assert run.look().components[1].parallelism == 2

    def test_no_json_at_all(self, client: Client) -> None:
        assert client.post("/api/run/scale", text="{").status == 400

    def test_spouts_pause_and_go_on(self, client: Client, watch: RunWatch) -> None:
        client.post("/api/run/deactivate")
        watch.look()
        assert client.get("/api/run").json()["state"] == "inactive"
        client.post("/api/run/activate")
        watch.look()
        assert client.get("/api/run").json()["state"] == "running"

    def test_a_checkpoint_wants_a_folder(self, client: Client) -> None:
        answer = client.post("/api/run/checkpoint")
        assert answer.status == 400 and "--checkpoints" in answer.json()["errorMessage"]

    def test_commands_are_no_links(self, client: Client, run: Run) -> None:
        assert client.get("/api/run/drain").status == 405
        assert not run.look().draining


class TestStorm:
    """Storm's names, as streamparse's own client asks for them."""

    def test_summaries(self, client: Client) -> None:
        (topology,) = client.get("/api/v1/topology/summary").json()["topologies"]
        assert (topology["name"], topology["status"], topology["tasksTotal"]) == ("tested", "ACTIVE", 4)
        assert topology["id"].startswith("tested-1-") and topology["encodedId"] == topology["id"]
        cluster = client.get("/api/v1/cluster/summary").json()
        assert (cluster["topologies"], cluster["tasksTotal"], cluster["supervisors"]) == (1, 4, 1)
        (machine,) = client.get("/api/v1/supervisor/summary").json()["supervisors"]
        assert machine["slotsUsed"] == 1 and machine["uptimeSeconds"] >= 0
        assert client.get("/api/v1/cluster/configuration").json()["topology.workers"] == 1

    def test_a_topology_by_its_id_and_by_its_name(self, client: Client, watch: RunWatch) -> None:
        watch.look()
        (summary,) = client.get("/api/v1/topology/summary").json()["topologies"]
        for id in (summary["id"], "tested"):
            told = client.get(f"/api/v1/topology/{id}").json()
            (spout,), bolts = told["spouts"], {bolt["boltId"]: bolt for bolt in told["bolts"]}
            assert (spout["spoutId"], spout["emitted"], spout["failed"]) == ("orders", COUNT, COUNT // 10)
            assert spout["acked"] == KEPT and float(spout["completeLatency"]) > 0
            assert bolts["picky"]["executed"] == COUNT and bolts["picky"]["executors"] == 2
            assert bolts["picky"]["lastError"].startswith("ValueError: a tenth (conftest.py:")
            assert all(isinstance(bolts["sink"][name], str) for name in ("capacity", "executeLatency"))
            windows = [each["window"] for each in told["topologyStats"]]
            assert windows == ["600", "10800", "86400", ":all-time"]
            assert told["topologyStats"][0]["emitted"] == COUNT + KEPT

    def test_a_component(self, client: Client) -> None:
        told = client.get("/api/v1/topology/tested/component/picky").json()
        assert (told["componentType"], told["tasks"]) == ("bolt", 2)
        assert told["componentErrors"][0]["count"] == COUNT // 10
        (given,), (made,) = told["inputStats"], told["outputStats"]
        assert (given["component"], given["stream"], given["grouping"]) == ("orders", "default", "shuffle")
        assert (given["executed"], given["failed"], made["emitted"]) == (COUNT, COUNT // 10, KEPT)
        assert {each["worker"] for each in told["executorStats"]} == {1}

    @pytest.mark.parametrize(
        ("path", "message"),
        [
            ("topology/tsted", "tested-1-"),
            ("topology/tested/component/piky", "did you mean 'picky'"),
            ("topology/tested?window=x", "expected a number of seconds, or :all-time"),
        ],
    )
    def test_what_there_is_not(self, client: Client, path: str, message: str) -> None:
        answer = client.get(f"/api/v1/{path}")
        assert answer.status == 400 and message in answer.json()["errorMessage"]

    def test_streamparse_shows_all_of_it(
        self,
        client: Client,
        watch: RunWatch,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        watch.look()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what it is written with
            from streamparse.cli import stats, worker_uptime

        def answered(env: str | None, path: str, config_file: str | None = None) -> Any:
            answer = client.get(path)
            assert answer.status == 200, path
            return answer.json()

        def all_answered(env: str | None, paths: Iterable[str], config_file: str | None = None) -> Any:
            return {path: answered(env, path) for path in paths}

        for module in (stats, worker_uptime):
            monkeypatch.setattr(module, "get_ui_json", answered)
            monkeypatch.setattr(module, "get_ui_jsons", all_answered)
        monkeypatch.setattr(stats, "get_env_config", lambda *args, **options: (None, {}))
        stats.display_stats(None)
        stats.display_stats(None, "tested")
        for component in ("orders", "picky", "sink"):
            stats.display_stats(None, "tested", component)
        worker_uptime.display_worker_uptime(None)
        told = capsys.readouterr().out
        assert "picky" in told and str(COUNT) in told and "1d 0h 0m 0s" in told

    def test_any_window_is_as_long_as_it_was_seen(self, client: Client) -> None:
        told = client.get("/api/v1/topology/tested?window=60").json()
        assert (told["window"], told["windowHint"]) == ("60", "1m 0s")
        assert told["bolts"][0]["executed"] == COUNT

    def test_rebalance_and_kill(self, client: Client, run: Run) -> None:
        options = {"rebalanceOptions": {"executors": {"picky": 3}}}
        answer = client.post("/api/v1/topology/tested/rebalance/0", options)
        assert answer.json()["status"] == "success" and run.look().components[1].parallelism == 3
        assert client.post("/api/v1/topology/other/kill/0").status == 400
        assert client.post("/api/v1/topology/tested/kill/0").json()["topologyOperation"] == "kill"
        until(lambda: run.look().draining)


class TestPrometheus:
    def test_totals_gauges_and_histograms(self, client: Client, watch: RunWatch) -> None:
        watch.look()
        answer = client.get("/metrics")
        samples = {
            (sample.name, sample.labels.get("component"), sample.labels.get("le")): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }
        assert samples["viperstorm_processed_tuples_total", "picky", None] == COUNT
        assert samples["viperstorm_errors_total", "picky", None] == COUNT // 10
        assert samples["viperstorm_tasks", "picky", None] == 2
        assert samples["viperstorm_up", None, None] == 1
        assert samples["viperstorm_tuple_seconds_count", "picky", None] == COUNT
        assert samples["viperstorm_tuple_seconds_bucket", "picky", "+Inf"] == COUNT
        assert ("viperstorm_capacity_ratio", "picky", None) in samples
        assert answer.headers["content-type"].startswith("text/plain")

    def test_openmetrics_for_those_who_ask_for_it(self, client: Client) -> None:
        answer = client.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
        assert answer.headers["content-type"].startswith("application/openmetrics-text")
        assert answer.text.endswith("# EOF\n")

    def test_buckets_are_cumulative(self) -> None:
        found = _buckets(((0, 2), (20, 3), (108, 1)))
        assert found[-1] == ("+Inf", 6.0)
        counts = [count for _, count in found]
        assert counts == sorted(counts) and counts[0] == 2.0 and bound_s(20) < 1e-4 and counts[1] == 5.0


@pytest.mark.parametrize("sharing", ["claims", "dealt"])
def test_claims_are_shown_where_tasks_share_their_input(tmp_path: Path, sharing: str) -> None:
    """If none does, no figure speaks of claims."""
    with going_on(tmp_path / "control", {**SHARED, "viper.sharing": sharing}):
        watch = RunWatch(tmp_path / "control")
        client = Client(shown(watch))
        described = client.get("/api/run/description").json()["components"][1]
        tasks = client.get("/api/run").json()["snapshot"]["components"][1]["tasks"]
        metrics = client.get("/metrics").text
    assert described["sharing"] == sharing
    labels = '{component="picky",role="bolt",topology="tested"}'
    if sharing == "dealt":
        assert {(task["claims"], task["claimed"]) for task in tasks} == {(0, 0)}
        assert "claim" not in metrics
    else:
        assert sum(task["claimed"] for task in tasks) == COUNT
        assert 1 <= sum(task["claims"] for task in tasks) <= COUNT
        assert f"viperstorm_claimed_tuples_total{labels} {COUNT}.0" in metrics


class Counting(Bolt):
    """Counts by key."""

    outputs = ["number"]
    count = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        self.emit([self.count.add(1)])


def test_a_bolt_whose_key_groups_are_claimed_is_told() -> None:
    builder = TopologyBuilder()
    builder.set_spout("orders", Waiting())
    bolt = builder.set_bolt("counting", Counting, 2, config={"viper.sharing": "claims"})
    bolt.fields_grouping("orders", "number")
    described = Describing(*plan_of(builder), None).description()
    assert [each.sharing for each in described.components] == ["dealt", "claims by key"]


class TestBeginning:
    def test_a_run_that_has_not_begun_is_told_so(self, watch: RunWatch) -> None:
        app = RunApp()
        client = Client(app)
        assert client.get("/healthz").json() == {"status": "ok", "run": "starting"}
        assert "is starting" in client.get("/").text
        assert (client.get("/metrics").status, client.get("/api/run").status) == (503, 503)
        assert client.post("/api/run/drain").status == 503
        assert client.get("/static/page.css").headers["content-type"].startswith("text/css")
        assert client.get("/favicon.ico").headers["content-type"].startswith("image/svg")
        app.show(watch)
        assert client.get("/healthz").json()["run"] == "running"


class TestEnd:
    def test_health_follows_the_run(self, tmp_path: Path) -> None:
        with going_on(tmp_path / "control"):
            watch = RunWatch(tmp_path / "control")
            client = Client(shown(watch))
            assert client.get("/healthz").json() == {"status": "ok", "run": "running"}
        watch.look()
        answer = client.get("/healthz")
        assert (answer.status, answer.json()) == (503, {"status": "fail", "run": "ended"})
        assert client.get("/api/run").json()["state"] == "ended"
        with going_on(tmp_path / "control"):  # another run in the same place is not the same
            watch.look()
            assert watch.state == "ended"
        assert 'viperstorm_up{topology="tested"} 0.0' in client.get("/metrics").text
        assert client.post("/api/run/drain").status == 400

    def test_there_is_no_such_run(self, tmp_path: Path) -> None:
        with pytest.raises(SuspendError, match="no run is going on"):
            RunWatch(tmp_path)

    def test_a_run_that_gives_no_answer_for_long_is_silent(
        self, watch: RunWatch, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("framework.web.watch.SILENT_AFTER_S", -1.0)
        assert watch.state == "silent"


@every_kind
def test_every_kind_of_worker_is_seen_whole(tmp_path: Path, workers: Workers) -> None:
    with going_on(tmp_path / "control", **workers.options):
        watch = RunWatch(tmp_path / "control")
        until(lambda: _looked(watch) == {"orders": COUNT, "picky": COUNT, "sink": KEPT})
        assert watch.description.worker == workers.kind
        numbers = {task.worker for each in watch.last.snapshot.components for task in each.tasks}
        assert numbers == set(range(1, watch.description.workers + 1))


def _looked(watch: RunWatch) -> dict[str, int]:
    watch.look()
    return {each.id: each.handled for each in watch.last.snapshot.components}
