"""Windows in Storm's words: how they are formed, and what a task has of them.

=============  ================================================================
lengths        `Count` and `Duration`, in which lengths are given
spec           the configuration of windows, and what it says
tuple_window   a window, as a bolt gets it
contents       the tuples of a task's windows, and which of them fires next
state          keeps the contents where they survive the task's process
key_window     a window of one key, as an operator over such gets it
key_state      keeps windows by key
endings        which of these end next
stretches      takes tuples of one pane into windows by key at once, as rows
columns        likewise, as columns
=============  ================================================================
"""

from framework.operators.windows.contents import Marks, WindowContents
from framework.operators.windows.key_window import KeyWindow, SideWindow
from framework.operators.windows.lengths import Count, Duration, TimeUnit
from framework.operators.windows.spec import WindowSpec, spec_in
from framework.operators.windows.state import BEHIND_TIME, OpenWindows, WindowFullError, WindowState
from framework.operators.windows.tuple_window import TupleWindow

__all__ = [
    "BEHIND_TIME",
    "Count",
    "Duration",
    "KeyWindow",
    "Marks",
    "OpenWindows",
    "SideWindow",
    "TimeUnit",
    "TupleWindow",
    "WindowContents",
    "WindowFullError",
    "WindowSpec",
    "WindowState",
    "spec_in",
]
