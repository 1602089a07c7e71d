"""Profiles in as many digits as people can read."""

from __future__ import annotations

from dataclasses import replace

from framework.optimizer.costs import ComponentCost, Profile, StreamCost


def rounded(profile: Profile, digits: int) -> Profile:
    """The same in so many significant digits.

    Args:
        profile: any.
        digits: at least 1.
    """

    def short(number: float) -> float:
        return float(f"{number:.{digits}g}")

    def stream(cost: StreamCost) -> StreamCost:
        return StreamCost(*map(short, (cost.selectivity, cost.size, cost.ns, cost.encode_ns, cost.decode_ns)))

    def component(cost: ComponentCost) -> ComponentCost:
        return ComponentCost(
            short(cost.ns),
            {name: stream(one) for name, one in cost.streams.items()},
            {name: short(ns) for name, ns in cost.inputs.items()},
            share=short(cost.share),
            memory=short(cost.memory),
        )

    return replace(
        profile,
        components={name: component(one) for name, one in profile.components.items()},
        run_ns=short(profile.run_ns),
        jumbo_ns=short(profile.jumbo_ns),
        jumbo_tuples=short(profile.jumbo_tuples),
        rates={name: short(rate) for name, rate in profile.rates.items()},
    )
