"""A run that is made up: what a rebalancer sees of it, and what really becomes of each change."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from framework.optimizer.costs import (
    ComponentCost,
    Deployment,
    Machine,
    Prediction,
    Profile,
    StreamCost,
    predict,
)
from framework.optimizer.costs.model import CostModel, part_of, tuples
from framework.optimizer.profiling import Sample, TaskSample, Way
from framework.planning.routing import TaskSet
from framework.runtime.rebalancing import Movable, Rebalancer, Sets
from tests.framework.optimizer.costs.shapes import WORDS

MOVED = ("split", "count")


def movable(workers: int) -> Movable:
    """A word count whose two bolts in the middle may go to any worker; its sink is on the last one."""
    everywhere = tuple(range(workers))
    places = {"lines": (0,), "split": everywhere, "count": everywhere, "sink": (workers - 1,)}
    return Movable(WORDS, places, MOVED)


def costs(draw: random.Random) -> Profile:
    """Draw the costs of its components."""

    def stream(selectivity: float) -> StreamCost:
        return StreamCost(selectivity, encode_ns=draw.uniform(20, 400), decode_ns=draw.uniform(20, 400))

    return Profile(
        {
            "lines": ComponentCost(draw.uniform(300, 4000), {"default": stream(1.0)}),
            "split": ComponentCost(draw.uniform(300, 20_000), {"default": stream(draw.uniform(1, 10))}),
            "count": ComponentCost(draw.uniform(100, 3000), {"default": stream(1.0)}),
            "sink": ComponentCost(draw.uniform(50, 1000)),
        },
        run_ns=50.0,
    )


@dataclass
class World:
    """One run.

    Args:
        workers: as many as cores.
        profile: what components really cost.
        seed: of all that is drawn.
        waiting: the part of the rate that each deployment really reaches.
        noise: of processor times and rates, relative.
        most: tuples a second that come at most.
    """

    workers: int
    profile: Profile
    seed: int
    waiting: Callable[[Deployment], float] = lambda deployment: 1.0
    noise: float = 0.03
    most: float = float("inf")
    moves: list[tuple[float, Sets, str]] = field(default_factory=list)
    """The times at which tasks began to get tuples, which tasks, and why."""

    def __post_init__(self) -> None:
        self.movable = movable(self.workers)
        self.machine = Machine.of_workers(self.workers, self.workers)
        self.sets: Sets = {name: TaskSet.first(1) for name in MOVED}
        self.draw = random.Random(self.seed)
        self.now_s = 0.0
        self.brought = 0.0
        """Tuples of spouts so far."""

    def rate(self, sets: Sets) -> float:
        """Tuples a second with some tasks."""
        deployment = self.movable.deployment(sets)
        return min(self.predicted(deployment).rate * self.waiting(deployment), self.most)

    def predicted(self, deployment: Deployment) -> Prediction:
        """Predict a deployment if nothing waits."""
        return predict(WORDS, self.profile, self.machine, deployment)

    def best(self) -> float:
        """The highest rate that any tasks reach."""
        choices = [list(self.movable.choices(name)) for name in MOVED]
        return max(self.rate(dict(zip(MOVED, some, strict=True))) for some in product(*choices))

    def go_on(self, rebalancer: Rebalancer, seconds: int) -> None:
        """Let so many windows of a second pass, and do what is decided."""
        for _ in range(seconds):
            self.now_s += 1.0
            window = self.window()
            self.brought += window.brought
            rebalancer.saw(self.sets, window)
            move = rebalancer.move(self.now_s, self.sets)
            if move is not None:
                self.sets = {**self.sets, **move.sets}
                self.moves.append((self.now_s, self.sets, str(move)))
                rebalancer.begin_anew(self.now_s, self.sets)

    def window(self) -> Sample:
        """Make the sample of a second."""
        deployment = self.movable.deployment(self.sets)
        brought = self.rate(self.sets) * self._about()
        tasks, ways = self._counted(deployment, brought)
        for (name, index), ns in self.predicted(deployment).tasks.items():
            task = tasks[f"{name}:{index}"]
            tasks[f"{name}:{index}"] = replace(task, cpu_ns=ns * brought * self._about())
        processed, emitted = tuples(WORDS, self.profile)
        return Sample(
            tasks,
            {f"{name}:{i}": at for name, places in deployment.tasks.items() for i, at in enumerate(places)},
            {name: round(count * brought) for name, count in processed.items()},
            {f"{name}/{stream}": round(count * brought) for (name, stream), count in emitted.items()},
            ways,
            {},
            1.0,
        )

    def _about(self) -> float:
        return self.draw.uniform(1 - self.noise, 1 + self.noise)

    def _counted(
        self, deployment: Deployment, brought: float
    ) -> tuple[dict[str, TaskSample], Mapping[str, Way]]:
        model = CostModel(WORDS, self.profile, self.machine)
        tasks = {
            f"{name}:{index}": TaskSample(name, 0.0)
            for name, places in deployment.tasks.items()
            for index in range(len(places))
        }
        tasks["lines:0"].processed = round(brought)
        ways = {}
        for flow in WORDS.flows:
            between = f"{flow.source}/{flow.target}"
            sources, targets = deployment.tasks[flow.source], deployment.tasks[flow.target]
            length = model.run_length(flow, len(sources), len(targets))
            sent: dict[bool, float] = defaultdict(float)
            for (i, place), (j, reached) in product(enumerate(sources), enumerate(targets)):
                part = part_of(flow, j, len(targets)) / len(sources)
                count = round(model.emitted[flow.source, flow.stream] * part * brought)
                giver, taker = tasks[f"{flow.source}:{i}"], tasks[f"{flow.target}:{j}"]
                taker.processed += count
                taker.runs += round(count / length)
                sent[place != reached] += count
                if place != reached:
                    giver.encoded[between] += count
                    taker.decoded[between] += count
            total = round(sum(sent.values()))
            ways[between] = Way(total, total // 500, round(20 * sent[True]), round(sent[True]))
        return tasks, ways
