"""The colours of a report, by role, for light and dark screens.

Figures are drawn once, in the light colours. In the page each of them becomes a CSS variable, which the style sheet
sets for both. So every role needs a colour of its own, even where two would look alike. The hues are those of Okabe and
Ito, which colour-blind readers tell apart; figures also use markers and dashes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Role:
    """One role: its colour on a light and on a dark page."""

    light: str
    dark: str


ROLES: dict[str, Role] = {
    "surface": Role("#ffffff", "#16191d"),
    "ink": Role("#1f2328", "#e7e9ec"),
    "muted": Role("#5c6670", "#a3adb8"),
    "grid": Role("#dfe3e8", "#343b44"),
    # Sets of documents, or classes: the first is the known one.
    "set0": Role("#0072b2", "#58b4ea"),
    "set1": Role("#d55e00", "#ff8c4b"),
    "set2": Role("#7b3f98", "#c89be0"),
    "set3": Role("#009e73", "#3fd0a3"),
    "set4": Role("#b8860b", "#f0c808"),
    "set5": Role("#c2407f", "#ff8fc0"),
    "set6": Role("#4a5a8a", "#97a8e0"),
    "set7": Role("#8a8f96", "#7d858f"),
    # Levels of a matrix, and what is written on the strong ones.
    "level1": Role("#dbe9f5", "#21384c"),
    "level2": Role("#c4dbee", "#244560"),
    "level3": Role("#a8cae6", "#274f6d"),
    "level4": Role("#88b6db", "#2a597e"),
    "level5": Role("#68a3d2", "#2e648f"),
    "level6": Role("#3577b1", "#4a8fc4"),
    "level7": Role("#22609c", "#66a9da"),
    "level8": Role("#134a85", "#8cc5f0"),
    "level9": Role("#093262", "#bce0ff"),
    "on_strong": Role("#fffffe", "#0d1013"),
}
LEVELS = 9
#: Levels from which on writing is in ``on_strong``.
STRONG = 6
SETS = 8

LIGHT = {name: role.light for name, role in ROLES.items()}
#: The CSS variable of each light colour.
VARIABLES = {role.light: f"var(--{name.replace('_', '-')})" for name, role in ROLES.items()}


def set_colour(place: int) -> str:
    """The light colour of a set of documents."""
    return LIGHT[f"set{place % SETS}"]


def level_colour(share: float) -> str:
    """The light colour of a share above 0, up to 1."""
    return LIGHT[f"level{level_of(share)}"]


def level_of(share: float) -> int:
    """The level of a share, from 1 to :data:`LEVELS`."""
    return min(LEVELS, max(1, round(share * LEVELS + 0.49)))


def ink_on(share: float) -> str:
    """The light colour of writing on a level."""
    return LIGHT["on_strong" if level_of(share) >= STRONG else "ink"]


def style_variables(*, dark: bool) -> str:
    """The declarations of the variables."""
    return "".join(f"--{name.replace('_', '-')}:{role.dark if dark else role.light};" for name, role in ROLES.items())
