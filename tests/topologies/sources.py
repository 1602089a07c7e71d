"""The source of each rule of a reference: a sentence, or the word that the rule is a guess.

A reference that the same hands wrote as the application repeats a rule that both have misread. So each rule
names a sentence that others can read again, and a rule without one says that it is a guess.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """A sentence from which a rule was taken.

    Args:
        where: the paper and its section, or the program and its file.
        sentence: as it stands there; letters, digits and signs count, spaces do not.
    """

    where: str
    sentence: str


@dataclass(frozen=True)
class Guess:
    """A rule that no source has, and the reason for it."""

    why: str


@dataclass(frozen=True)
class Code:
    """A rule that only a published program has.

    Args:
        where: the project and the file.
        what: the rule, in words of our own, as programs are not copied.
    """

    where: str
    what: str


Origin = Source | Code | Guess

LINEAR_ROAD = "Arasu et al., Linear Road, VLDB 2004"
LINEAR_ROAD_PAGE = "Linear Road, overview page of Brandeis University"
VALIDATOR = "walmartlabs/linearroad, JavaValidator/ValidateMTBQEven3AeroTolls.java"
BRISK = "briskstream.txt"
TSTREAM = "tstream.txt"
STRETCH = "stretch.txt"
ORDERED = "ordered-stream-processing.txt"
"""The texts of the papers, as files, so that a test can look for the sentences in them."""


def bare(text: str) -> str:
    """A text without what differs between two copies of a paper: spaces, and signs that are typeset."""
    return re.sub(r"[^A-Za-z0-9.,()/%:]", "", text)
