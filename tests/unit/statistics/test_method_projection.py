"""Options of the projection curve_method reach what is measured."""

import pytest

import ogive

VALUES = [0.2, 0.5, 0.5, 0.9] * 200


def released(**options):
    curve_method = ogive.Projection(**options)
    return ogive.ecdf(VALUES, bounds=(0, 1), bins=64, privacy=ogive.ApproxDP(1, "1e-6"), method=curve_method)


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        ({"basis": "sine"}, "basis", "sine"),
        ({"degree": 9}, "degree", 9),
        ({"noise": "isotropic"}, "noise", "isotropic"),
        ({"noise": "moments", "constants": "paper"}, "constants", "paper"),
    ],
    ids=lambda value: str(value),
)
def test_every_option_reaches_the_strategy(options, field, value):
    strategy, usual = released(**options).strategy, released().strategy
    assert getattr(strategy, field) == value
    assert getattr(usual, field) != value


def test_the_papers_constants_are_refused_where_they_mean_nothing():
    with pytest.raises(ogive.ParameterError, match="constants='paper' is for Gaussian noise on moments"):
        released(constants="paper")


@pytest.mark.parametrize(
    ("options", "least", "largest"),
    [({}, 0, 30), ({"basis": "sine"}, 0, 30), ({"basis": "splines"}, 3, 30), ({"noise": "moments"}, 0, 15)],
    ids=["legendre", "sine", "splines", "moments"],
)
def test_a_degree_out_of_range_is_refused_at_once_as_its_design_refuses_it(options, least, largest):
    for degree in (least, largest):
        assert ogive.Projection(degree=degree, **options).degree == degree
    for degree in (least - 1, largest + 1, float(largest), True):
        with pytest.raises(
            ogive.ParameterError, match=f"degree must be a whole number from {least} to {largest}"
        ) as at_once:
            ogive.Projection(degree=degree, **options)
        with pytest.raises(ogive.ParameterError) as designed:
            ogive.design_projection(
                64, privacy=ogive.ApproxDP(1, "1e-6"), adjacency=ogive.Adjacency.REPLACE, degree=degree, **options
            )
        assert str(at_once.value) == str(designed.value)
