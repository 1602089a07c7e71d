"""Short inputs that show one rule each, with the answers that the rule asks for, worked out by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.topologies.linear_road.reference import Line

MILE = 5280
ENTRY, TRAVEL, OTHER, EXIT = 0, 1, 2, 4
ABOUT = range(1, 100)
"""The vehicles that a scene is about; the others are only there."""
CROWD = 60
"""Vehicles that make a toll of 2 * (60 - 50) ** 2 = 200."""


@dataclass(frozen=True)
class Scene:
    """Lines, and some of their answers."""

    name: str
    lines: Sequence[Line]
    answers: Sequence[str]
    """The answers to the vehicles and queries that the scene is about, in their order."""

    @property
    def has_tolls(self) -> bool:
        """True if answers of tolls are among the answers."""
        return any(answer.startswith("0") for answer in self.answers)

    def chosen(self, answers: Iterable[str]) -> list[str]:
        """The answers that the scene is about, of all answers to its lines."""
        return [answer for answer in answers if self._is_about(list(map(int, answer.split(","))))]

    def _is_about(self, answer: list[int]) -> bool:
        kind = answer[0]
        if kind == 2:
            return True
        if kind == 1:
            return answer[5] in ABOUT
        return answer[1] in ABOUT and self.has_tolls


def report(time: int, vid: int, seg: int, lane: int = TRAVEL, feet: int = 0, speed: int = 20) -> Line:
    """A report from expressway 0, going up."""
    return (0, time, vid, speed, 0, lane, 0, seg, seg * MILE + feet, *[-1] * 6)


def query(time: int, vid: int, qid: int) -> Line:
    """The question of what a vehicle owes."""
    return (2, time, vid, *[0] * 6, qid, *[-1] * 5)


def in_order(lines: Iterable[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: line[1])


def crowd(seg: int) -> list[Line]:
    """Sixty vehicles which are in a segment in the first minute, so that it costs 200 in the second one."""
    return [report(second, 1000 + second, seg, feet=second) for second in range(CROWD)]


def standing(vids: Iterable[int], seg: int, first: int, reports: int) -> list[Line]:
    """Reports, every thirty seconds, of vehicles that stand in one place; the fourth one stops them."""
    return [report(first + 30 * nth, vid, seg, feet=100) for nth in range(reports) for vid in vids]


def entering(vid: int, seg: int, at: int) -> list[Line]:
    """A vehicle that comes into a segment, from far away."""
    return [report(at - 30, vid, 0, feet=vid), report(at, vid, seg, feet=vid)]


CHARGED = [
    # Each is told of 200 for segment 40 in the second minute.
    *(report(65, vid, 40, feet=10 + vid) for vid in range(1, 7)),
    *(query(70, vid, vid) for vid in range(1, 7)),
    report(95, 1, 41, TRAVEL),
    report(95, 2, 41, EXIT),
    report(95, 3, 40, EXIT, feet=300),
    report(95, 4, 40, OTHER, feet=300),
    # Who has left by the exit of 40, or of 41, comes again, elsewhere.
    report(125, 2, 60, ENTRY),
    report(125, 3, 60, ENTRY),
    report(125, 4, 41, EXIT),
    report(125, 5, 40, EXIT, feet=300),
    report(126, 5, 40, EXIT, feet=400),
    report(155, 5, 41, TRAVEL),
    report(155, 6, 39, EXIT),
    *(query(200, vid, 10 + vid) for vid in range(1, 7)),
]
CLEARED = [
    *standing((200, 201), 50, 0, 4),  # an accident from the second 90 on, which is of minute 2
    report(150, 200, 50, feet=500),  # cleared in minute 3
    *entering(1, 46, 110),  # the minute of the accident
    *entering(2, 46, 120),  # the minute behind it
    *entering(3, 46, 149),
    *entering(4, 46, 150),  # the second of its clearing
    *entering(5, 46, 179),  # the last second of the minute of its clearing
    *entering(6, 46, 180),
    *entering(7, 51, 160),  # ahead of it
    *entering(8, 45, 160),  # five segments before it
]
SHORT = [
    *standing((200, 201), 50, 30, 4),  # from the second 120 on
    report(150, 200, 50, feet=500),  # cleared in the minute in which it has happened
    *entering(1, 48, 179),
    *entering(2, 48, 180),
]
AGAIN = [
    *standing((200, 201), 50, 0, 5),  # from the second 90 on
    *standing((202,), 50, 60, 8),  # a third one, stopped from the second 150 on
    report(151, 200, 50, feet=500),
    report(152, 201, 50, feet=500),  # one is left: cleared in minute 3
    *standing((203,), 50, 89, 5),  # with another one, an accident again from the second 179 on
    *entering(1, 49, 178),
    *entering(2, 49, 179),
    *entering(3, 49, 180),
    report(215, 203, 50, feet=600),  # cleared in minute 4
    *entering(4, 49, 239),
    *entering(5, 49, 240),
]


def tolled(vid: int, time: int, toll: int = 0, speed: int = 20) -> str:
    """The answer to a vehicle that comes into a segment."""
    return f"0,{vid},{time},{speed},{toll}"


def warned(vid: int, time: int) -> str:
    """The answer to a vehicle that comes near the accident in segment 50."""
    return f"1,{time},0,50,0,{vid}"


SCENES = [
    Scene(
        "tolls are charged at the next report, but by the exit",
        in_order([*crowd(40), *CHARGED]),
        [
            *(tolled(vid, 65, 200) for vid in range(1, 7)),
            *(f"2,70,{vid},0" for vid in range(1, 7)),
            tolled(1, 95, speed=0),
            tolled(2, 125, speed=0),
            tolled(3, 125, speed=0),
            tolled(5, 155),
            "2,200,11,200",
            "2,200,12,200",
            "2,200,13,0",
            "2,200,14,200",
            "2,200,15,0",
            "2,200,16,200",
        ],
    ),
    Scene(
        "accidents are told of up to the end of the minute of clearing",
        in_order(CLEARED),
        [warned(2, 120), warned(3, 149), warned(4, 150), warned(5, 179)],
    ),
    Scene("nobody is told of an accident that is cleared in its minute", in_order(SHORT), []),
    Scene(
        "another accident in the same place",
        in_order(AGAIN),
        [warned(1, 178), warned(2, 179), warned(3, 180), warned(4, 239)],
    ),
]
