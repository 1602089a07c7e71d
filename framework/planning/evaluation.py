"""The evaluation of transactions: its evaluator, its number of threads, and the reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from framework.model.config import Settings
from framework.planning.placement import Placement, usable_cores

AUTO: Final = "auto"
SERIAL: Final = "serial"
MOST_THREADS: Final = 16


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The way in which each process of a run evaluates transactions."""

    evaluator: str
    """As ``viper.transactions.evaluator`` says it; ``serial`` where no threads are free for another one."""
    threads: int
    """The number of threads of one process that may evaluate."""
    why: str
    """In words, for people."""

    def __str__(self) -> str:
        if self.threads == 1:
            return f"{SERIAL}: {self.why}"
        if self.evaluator == AUTO:
            return f"serial or on {self.threads} threads, as measured: {self.why}"
        return f"{self.evaluator} on {self.threads} threads: {self.why}"


def evaluation_of(placement: Placement, settings: Settings, cores: int | None = None) -> Evaluation:
    """Choose the way in which a run evaluates its transactions.

    Args:
        placement: has the run's workers.
        settings: its configuration.
        cores: their number; None: those that this process may use.
    """
    evaluator, asked = settings["viper.transactions.evaluator"], settings["viper.transactions.threads"]
    if evaluator == SERIAL:
        return Evaluation(SERIAL, 1, "viper.transactions.evaluator says so")
    if asked is not None:
        why = f"viper.transactions.threads is {asked}"
        return Evaluation(SERIAL if asked == 1 else evaluator, asked, why)
    cores = cores or usable_cores()
    workers = sum(executor.threads for executor in placement.executors if not executor.blocking)
    free = min(max(cores - workers, 0), MOST_THREADS - 1)
    left = "none" if free == 0 else f"{free}"
    why = f"{_counted(workers, 'worker')} on {_counted(cores, 'core')} {_verb(workers)} {left} free"
    return Evaluation(evaluator if free else SERIAL, 1 + free, why)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _verb(number: int) -> str:
    return "leaves" if number == 1 else "leave"
