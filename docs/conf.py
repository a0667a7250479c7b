"""How the manual is built: `make docs`."""

import re
from pathlib import Path

project = "ogive"
author = "the ogive maintainers"
copyright = author
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_design",
]
source_suffix = {".md": "myst-nb"}
exclude_patterns = ["_build"]

html_theme = "pydata_sphinx_theme"
html_title = "ogive"
html_static_path = ["_static"]
html_css_files = ["ogive.css"]
html_favicon = "_static/logo.svg"
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
html_show_sourcelink = False
html_show_sphinx = False
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": "ogive", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "header_links_before_dropdown": 6,
    "show_nav_level": 2,
    "navigation_depth": 3,
    "navigation_with_keys": False,
    "search_bar_text": "Search the manual",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3

# a page that is a notebook runs at each build, so what it shows is what the program does
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_execution_show_tb = True
# notes such as "compiling once for this machine" are of the machine that built the page
nb_output_stderr = "remove"

# several estimates have a field of one name, and words of a docstring that are such a name link to none
suppress_warnings = ["ref.python"]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
napoleon_google_docstring = True
napoleon_custom_sections = [("Fields", "params_style"), "Privacy", "Source", "Runs on", "Learns"]


def name_classes(app, what, name, thing, options, signature, returned):
    """Write a class that is a default by its name."""
    return signature and re.sub(r"<class '[\w.]*?(\w+)'>", r"\1", signature), returned


def list_names(app, name, content):
    """List on the landing page of the reference every name that its pages have."""
    if name != "api":
        return
    for page in re.findall(r"^api/\w+$", content[0], re.MULTILINE):
        text = (Path(app.srcdir) / f"{page}.md").read_text(encoding="utf-8")
        names = re.findall(r"^\.\. auto(?:class|function|exception):: ([\w.]+)", text, re.MULTILINE)
        title = text.partition("\n")[0].removeprefix("# ")
        listed = ", ".join(f"{{py:obj}}`{each.rpartition('.')[2]} <{each}>`" for each in names)
        content[0] += f"\n**[{title}]({page}.md)** {listed}\n"


def setup(app):
    """Register what this manual adds to Sphinx."""
    app.connect("source-read", list_names)
    app.connect("autodoc-process-signature", name_classes)
