"""The collector of cycles: it does not go through the collected tests, whatever runs in a test process."""

from __future__ import annotations

import gc

from tests.framework.runtime.pieces import bolt, built, listed, run_built


def test_collected_tests_stay_frozen_when_a_run_has_ended() -> None:
    run_built(built(listed(["x"]), bolt(lambda self, tup: self.emit(tup.values), ("value",))))
    assert gc.get_freeze_count() > 1000
