"""Windows in Storm's words: their forms, and a task's part of them.

- `lengths`: `Count` and `Duration`, the units of lengths
- `spec`: the configuration of windows, and its meaning
- `tuple_window`: a window, as a bolt gets it
- `contents`: the tuples of a task's windows, and the choice of the next window that fires
- `state`: the contents as declared state, which survives the task's process
- `key_window`: a window of one key, as an operator over such windows gets it
- `key_state`: the windows by key, as declared state
- `due`: an agenda of what ends next
- `stretches`: takes tuples of one pane into windows by key at once, as rows
- `columns`: the same for columns
"""

from framework.operators.windows.contents import Marks, WindowContents
from framework.operators.windows.key_window import KeyWindow, SideWindow
from framework.operators.windows.lengths import Count, Duration, TimeUnit
from framework.operators.windows.spec import BEHIND_TIME, WindowSpec, spec_in
from framework.operators.windows.state import OpenWindows, WindowFullError, WindowState
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
