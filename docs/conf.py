"""How the manual is built: `make docs`."""

project = "ogive"
author = "the ogive maintainers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = "ogive"
html_show_sourcelink = False
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = True
napoleon_custom_sections = [("Fields", "params_style"), "Privacy", "Source", "Runs on", "Learns"]
