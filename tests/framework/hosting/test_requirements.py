"""The demands of projects written for streamparse, and where each demand is tested.

| demand | tests |
|---|---|
| a process for each task: class attributes and module globals are the task's own | `runtime/workers/test_isolation.py::test_every_task_has_a_process_with_classes_and_modules_of_its_own` |
| values cross by value | `hosting/test_values.py::test_nobody_sees_what_others_do_to_a_value`, `runtime/test_by_value.py::test_the_tasks_of_an_all_grouping_do_not_see_each_others_changes` |
| values as Storm's JSON makes them, where that is asked for | `hosting/test_values.py::test_json_makes_texts_of_keys_and_bytes_and_lists_of_tuples`, `hosting/test_json_values.py::test_a_value_is_what_pystorm_would_read_of_what_it_writes` |
| `activate` before the first `next_tuple` | `hosting/test_attributes.py::test_hooks_come_in_order_and_attributes_with_the_first` |
| modules of the project, environment, current folder | `hosting/test_surroundings.py::test_a_project_finds_its_modules_folder_and_environment` |
| no attribute of an instance is probed, none is reserved | `hosting/test_surroundings.py::test_attributes_may_have_any_name_and_properties_may_raise` |
| `fail` and then the automatic ack: the first response holds | `runtime/test_ported.py::test_a_fail_before_the_automatic_ack_is_harmless`, `reliability/test_answering.py::test_the_first_answer_counts` |
| emits of a bolt without outputs: warned of once, with the line to add | `hosting/test_speaking_out.py::test_an_undeclared_emit_is_warned_of_once_with_the_line_to_add`, `runtime/test_emit.py::test_emits_without_declared_outputs_are_an_error_if_wished` |
| `print` goes to the log and breaks nothing | `hosting/test_speaking_out.py::test_what_is_printed_goes_to_the_log` |
| `log`, `logger`, `report_metric`, `raise_exception` | `hosting/test_speaking_out.py::test_every_way_to_log_and_report` |
| `next_tuple` may wait or never return: tuples flow, memory is bounded | `hosting/test_waiting_calls.py::test_what_a_ported_spout_emits_flows_while_it_waits_in_its_own_process`, `hosting/test_waiting_calls.py::test_a_call_that_never_returns_is_stopped_and_nothing_piles_up` |
| a bolt that raises, an `initialize` that fails | `runtime/workers/test_errors_of_workers.py::test_an_error_names_component_task_and_callback`, `reliability/test_faults.py::test_ported_components_are_restarted`, `reliability/test_faults.py::test_what_fails_to_begin_anew_stops_the_run` |
| keys of the user's own reach `initialize` | `hosting/test_attributes.py::test_context_and_conf_have_storms_keys` |
| one class for several components, specs made in a loop, cycles | `hosting/test_declaring.py::test_one_class_serves_several_components`, `hosting/test_declaring.py::test_specs_of_a_loop_have_their_own_configuration`, `hosting/test_declaring.py::test_a_cycle_runs_and_ends` |
| Java components load, validate, draw, and are refused to run | `hosting/test_declaring.py::test_java_components_load_validate_and_draw_and_are_refused_to_run` |
| a tuple is a named tuple, of named values | `hosting/test_tuples.py::test_it_is_a_tuple_with_fields` |
| whatever pickles may be emitted; what does not raises there | `hosting/test_values.py::test_whatever_pickles_arrives_as_it_was`, `hosting/test_values.py::test_what_cannot_cross_raises_at_the_emit` |
| ticks, also by a subscription to them | `hosting/test_ticks.py::test_who_subscribes_gets_each_tick_once`, `hosting/test_ticks.py::test_every_form_loads_validates_draws_plans_and_runs` |
| batches by ticks and by a timer | `hosting/test_batches.py::test_batches_fire_at_the_ticks_at_which_pystorms_do`, `hosting/test_batches.py::test_a_timer_fires_without_ticks` |
| what Storm refuses | `hosting/test_as_storm_validates.py::test_what_is_wrong_is_refused_with_its_name` |
"""  # noqa: E501 - a row of a table is a line

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]


def test_every_test_that_is_named_here_exists() -> None:
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", __doc__ or "")
    assert len(named) > 25
    missing = [
        f"{file}::{name}"
        for file, name in named
        if not re.search(rf"^def {name}\(", (TESTS / file).read_text(encoding="utf-8"), flags=re.MULTILINE)
    ]
    assert missing == []
