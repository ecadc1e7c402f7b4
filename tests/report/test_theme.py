"""Colours: one for each role, and enough contrast in both themes."""

from __future__ import annotations

import re

import pytest

from masker.report.theme import LEVELS, ROLES, SETS, STRONG, VARIABLES, ink_on, level_colour, level_of, style_variables


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, two: str) -> float:
    dark, light = sorted((luminance(one), luminance(two)))
    return (light + 0.05) / (dark + 0.05)


def test_every_role_has_a_light_colour_of_its_own():
    """They are told apart by it when a figure is put into a page."""
    assert len(VARIABLES) == len(ROLES)
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for role in ROLES.values() for colour in (role.light, role.dark))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_writing_can_be_read(theme):
    colours = {name: getattr(role, theme) for name, role in ROLES.items()}
    assert contrast(colours["ink"], colours["surface"]) > 7
    assert contrast(colours["muted"], colours["surface"]) > 4.5
    for level in range(1, LEVELS + 1):
        ink = colours["on_strong" if level >= STRONG else "ink"]
        assert contrast(ink, colours[f"level{level}"]) > 4.5, level


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_marks_can_be_seen_and_levels_rise(theme):
    colours = {name: getattr(role, theme) for name, role in ROLES.items()}
    for place in range(SETS):
        assert contrast(colours[f"set{place}"], colours["surface"]) > 3, place
    steps = [luminance(colours[f"level{level}"]) for level in range(1, LEVELS + 1)]
    assert steps == sorted(steps, reverse=theme == "light")


def test_levels():
    assert [level_of(share) for share in (0.001, 0.1, 0.5, 0.99, 1.0)] == [1, 1, 5, 9, 9]
    assert level_colour(1.0) == ROLES["level9"].light
    assert ink_on(0.1) == ROLES["ink"].light and ink_on(1.0) == ROLES["on_strong"].light


def test_variables():
    assert style_variables(dark=True).count(":#") == len(ROLES)
    assert f"--on-strong:{ROLES['on_strong'].dark};" in style_variables(dark=True)
