"""Functions on arrays: what is said to people who give them a table."""

import pytest

import ogive


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: ogive.ecdf({"x": [1.0]}, "x"), r"ecdf\(\) takes 1 array, values, and got 2; columns of a table are"),
        (lambda: ogive.roc([1], [0], "x"), r"takes 2 arrays, scores and labels, and got 3; .*limit=...\).roc\(...\)"),
        (lambda: ogive.hosmer_lemeshow([0.5], [1], by="sex"), r"argument 'by'; columns of a table are released by"),
        (lambda: ogive.ecdf([1.0], privcy=1), r"unexpected keyword argument 'privcy'; did you mean privacy\?$"),
    ],
    ids=["a table", "three arrays", "groups", "a misspelling"],
)
def test_a_table_given_to_a_function_on_arrays_is_told_of_sessions(call, told):
    with pytest.raises(TypeError, match=told):
        call()


def test_values_of_a_column_are_no_number_of_groups():
    with pytest.raises(ogive.ParameterError, match=r"how many groups .* got \(0, 1\); the values .* by_groups="):
        ogive.HosmerLemeshow("p", "y", groups=(0, 1))
