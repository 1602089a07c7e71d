"""Sphinx's configuration: the pages of this folder as a site, and the public API from its docstrings."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parents[1]))

from framework.version import VERSION  # found through the line above

project = "ViperStorm"
author = "the ViperStorm developers"
release = version = VERSION

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
myst_heading_anchors = 4

# Docstrings name code in single backticks.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": True}

html_theme = "furo"
html_title = f"ViperStorm {VERSION}"
html_show_sphinx = False
html_copy_source = False
copybutton_exclude = ".linenos, .gp, .go"

OWN_LEXERS = "csv", "rows", "error"
"""The names by which tests find fenced blocks; the blocks are plain text."""


def setup(app: Sphinx) -> None:
    """Add what Sphinx does not know of these pages and docstrings."""
    for name in OWN_LEXERS:
        app.add_lexer(name, TextLexer)
    # Before napoleon, which indents the sections of a docstring itself.
    app.connect("autodoc-process-docstring", _mark_examples, priority=100)


def _mark_examples(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Have Sphinx take what is indented behind an empty line for an example, and not for a quotation."""
    lines[:] = list(_with_marks(lines))
    if what in ("attribute", "data", "property"):
        # napoleon takes what stands before a colon in the first line for a type.
        lines.insert(0, "")


def _with_marks(lines: list[str]) -> Iterator[str]:
    before = ""
    for number, line in enumerate(lines):
        opens = line.startswith("    ") and number > 0 and not lines[number - 1].strip()
        if opens and before and not before.startswith((" ", "..")) and not before.endswith("::"):
            yield from ("::", "")
        yield line
        before = line if line.strip() else before
