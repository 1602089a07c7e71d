"""The bolts of a plan whose tasks are to share their input by claims, by the measured times of their tuples.

A file of its own, as no planner searches for it: claims change no cost of the model. The gain of a bolt that
computes is small where times differ, as these even out over thousands of tuples: 2 % with times from 1 to
100. It is 22 % where half of the time goes into tuples that take 5,000 times as long as the others. Such a
tuple fills its task's channel, and the other tasks have nothing to do. A bolt that waits gains 13 % at a
spread of 1.2, and nothing if all its tuples wait alike. Claims cost up to 6 % on cheap tuples (docs/claims.md
has the measurements).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from framework.model.config import Settings
from framework.model.topology import ComponentSpec
from framework.optimizer.costs import Deployment, Profile
from framework.planning import Plan
from framework.planning.sharing import CLAIMS, DEALT, SHARING, obstacles

FROM_SLOW: Final = 0.2
"""The part of a computing bolt's time in slow tuples (`Variation.slow`), from which on claims are chosen. The
gain grows with that part, so it is some 8 % here."""
FROM_SPREAD: Final = 0.5
"""The spread of the times of a bolt that waits (`viper.blocking`), from which on claims are chosen."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """A bolt's way to share its input."""

    claims: bool
    why: str
    """In words."""


def sharing_of(
    plan: Plan, settings: Settings, profile: Profile, deployment: Deployment
) -> Mapping[str, Sharing]:
    """The ways to share, by id, of bolts with several tasks that have not said how.

    Args:
        plan: as it is configured.
        settings: its configuration.
        profile: of all components.
        deployment: how many tasks they will have.
    """
    several = [bolt for bolt in plan.topology.bolts if len(deployment.tasks[bolt.id]) > 1]
    return {
        bolt.id: _sharing(plan, settings, profile, bolt) for bolt in several if not _has_said(bolt, settings)
    }


def sharing_options(found: Mapping[str, Sharing]) -> Mapping[str, Mapping[str, str]]:
    """Keys of the configuration that make a run share so; none where no bolt claims."""
    claiming = {name: CLAIMS for name, sharing in found.items() if sharing.claims}
    return {SHARING: claiming} if claiming else {}


def _has_said(bolt: ComponentSpec, settings: Settings) -> bool:
    """True if somebody has: the bolt itself, or the topology for all, above the defaults."""
    return SHARING in bolt.config or len(settings.entries[SHARING]) > 1


def _sharing(plan: Plan, settings: Settings, profile: Profile, bolt: ComponentSpec) -> Sharing:
    if reasons := obstacles(plan.topology, settings, plan.confs, plan.traits, bolt):
        return Sharing(False, "; ".join(reasons))
    if plan.traits[bolt.id].states:
        return Sharing(False, "it has state by key, and no profile has the shares of keys, which decide")
    found = profile.components[bolt.id].variation
    if found is None:
        return Sharing(False, "the profile has no spread of its times: make it again with viper profile")
    if plan.confs[bolt.id]["viper.blocking"]:
        told = f"it waits, and the spread of its times is {found.spread:.2g} (from {FROM_SPREAD} on)"
        return Sharing(found.spread >= FROM_SPREAD, told)
    told = f"tuples that take 1,000 times as long as most have {found.slow:.0%} of its time"
    return Sharing(found.slow >= FROM_SLOW, f"{told} (from {FROM_SLOW:.0%} on)")


def in_words(name: str, sharing: Sharing) -> str:
    """A line about a bolt."""
    return f"{name}: {CLAIMS if sharing.claims else DEALT}, as {sharing.why}"
