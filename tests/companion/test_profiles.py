"""Profiles: the right sizes, and clear refusals."""

import pytest

from firal.companion import profiles


@pytest.fixture(autouse=True)
def two_knobs(monkeypatch):
    monkeypatch.setattr(
        profiles,
        "SIZES",
        {"t99": {"n": (1, 2, 3), "scale": (0.5, 1.0, 2.0), "grid": ((1,), (1, 2), (1, 2, 3))}},
    )


@pytest.mark.parametrize(("profile", "n"), [("smoke", 1), ("book", 2), ("paper", 3)])
def test_the_profile_gives_the_sizes(profile, n):
    sizes = profiles.load("t99", {"PROFILE": profile, "N": None})
    assert (sizes.profile, sizes.n) == (profile, n)


def test_a_knob_overrides_the_profile():
    sizes = profiles.load("t99", {"PROFILE": "book", "N": 7, "SCALE": 3, "GRID": [4, 5]})
    assert (sizes.n, sizes.scale, sizes.grid) == (7, 3.0, (4, 5))
    assert isinstance(sizes.scale, float)


def test_an_unknown_profile_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="unknown profile 'huge'.*smoke, book, paper"):
        profiles.load("t99", {"PROFILE": "huge"})


@pytest.mark.parametrize("name", ["NN", "n", "seeds"])
def test_an_unknown_parameter_is_refused(name):
    with pytest.raises(ValueError, match=f"unknown parameter {name} for t99.*N, SCALE"):
        profiles.load("t99", {"PROFILE": "book", name: 5})


@pytest.mark.parametrize(("name", "value"), [("N", 2.5), ("N", "2"), ("N", True), ("SCALE", "x")])
def test_a_wrong_type_is_refused(name, value):
    with pytest.raises(ValueError, match=f"parameter {name} = .*expected"):
        profiles.load("t99", {"PROFILE": "book", name: value})


def test_what_is_not_a_parameter_is_ignored():
    namespace = {"PROFILE": "book", "_hidden": 1, "In": [], "Out": {}, "profiles": profiles}
    assert profiles.load("t99", namespace).n == 2


def test_a_notebook_without_sizes_is_refused():
    with pytest.raises(ValueError, match="no sizes for notebook 't98'"):
        profiles.load("t98", {"PROFILE": "book"})


def test_a_missing_profile_is_refused():
    with pytest.raises(ValueError, match="has no PROFILE"):
        profiles.load("t99", {})
