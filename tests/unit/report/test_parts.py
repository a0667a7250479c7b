import re

import pytest

from ogive.showing.parts import figure, table


def test_a_table_names_its_columns_and_rows():
    written = table("Ages", ["Share", "Value"], [("50 %", ["41"]), ("90 %", ["70"])], "Read it so.")
    assert written.count('scope="col"') == 2
    assert written.count('scope="row"') == 2
    assert "<caption>Ages</caption>" in written
    assert '<td data-name="Value">41</td>' in written
    # where a phone shows cells below each other, each says which column it is of, the first one too
    assert '<th scope="row" data-name="Share">50 %</th>' in written
    assert "Read it so." in written


@pytest.mark.parametrize(
    ("cells", "shape", "whole"),
    [
        (["41", "40 to 42"], "tight", False),
        (["2024-01-01", "2024-01-01 to 2024-02-01"], "stacks tight", False),
        (["2024-01-01", "2024-01-01 to 2024-02-01 or so"], "stacks tight", True),
        (["41", "x" * 100], "stacks", True),
    ],
    ids=["phone", "half of the page", "the page", "wider"],
)
def test_a_table_is_laid_out_by_what_it_holds(cells, shape, whole):
    written = table("Ages", ["Share", "Value", "Interval"], [("5 %", cells)])
    assert re.search(r'<table class="([\w ]*)"', written)[1] == shape
    assert written.startswith('<div class="whole">') == whole


def test_words_are_set_to_the_left():
    written = table("Ages", ["No.", "Release", "Price"], [("1", ["ecdf", "3"])], texts=(1,))
    assert '<td class="words" data-name="Release">ecdf</td>' in written
    assert '<td data-name="Price">3</td>' in written


def test_cells_are_text_and_must_fit_their_columns():
    assert "<b>" not in table("<b>", ["<b>"], [("<b>", [])], "<b>")
    with pytest.raises(ValueError, match="zip"):
        table("Ages", ["Share", "Value"], [("5 %", ["1", "2"])])
    assert "<tbody></tbody>" in table("Ages", ["Share", "Value"], [])


def test_small_numbers_are_not_broken_at_their_hyphen():
    assert figure("epsilon = 2, delta = 1e-05") == (
        '<p class="figure">epsilon = 2, delta = <span class="unbroken">1e-05</span></p>'
    )
    assert figure("nothing but a well-known word") == '<p class="figure">nothing but a well-known word</p>'
