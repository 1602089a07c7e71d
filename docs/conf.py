"""Sphinx's configuration: the pages of this folder as a site, and the public API from its docstrings."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from framework.version import VERSION  # found through the line above

project = "ViperStorm"
author = "the ViperStorm developers"
release = version = VERSION

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
exclude_patterns = ["figures"]

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
