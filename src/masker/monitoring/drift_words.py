"""What a monitor found, in one sentence."""

from __future__ import annotations

from typing import Any

#: If as many of the texts might be foreign, nothing is known of them.
_TELLS_NOTHING = 0.9


def drift_sentence(state: dict[str, Any]) -> str:
    """One sentence for the state of a monitor (without its sentence)."""
    observed = state["observed"]
    if not observed:
        return "No text has been seen yet."
    if state["alarm"]:
        return _alarm(state)
    texts = "1 text" if observed == 1 else f"{observed:,} texts"
    share = state["foreign_share"]
    if share is None or share["low"] > 0:
        return f"No sign of a change in {texts}{_foreign(share)}."
    if share["high"] >= _TELLS_NOTHING:
        return f"No sign of a change in {texts}, too few to say more."
    return (
        f"No sign of a change in {texts}; at most {100 * share['high']:.0f} % of the last {share['texts']} are foreign."
    )


def _alarm(state: dict[str, Any]) -> str:
    classes = [group for group in state["classes"] if group["alarm"]]
    whole = state["whole"]
    settings = state["settings"]
    promise = (
        f"the chance of a false alarm is at most {100 * settings['alarm_rate']:.3g} % in {settings['horizon']:,} texts"
    )
    when = f"text {state['since']:,}" + ("" if state["since_time"] is None else f" ({state['since_time']})")
    if whole["alarm"]:
        among = f", most clearly among those labelled {_names(classes)}" if classes else ""
        found = f"since about {when}, texts look stranger than before{among}{_foreign(whole['foreign_share'])}"
    else:
        share = _foreign(classes[0]["foreign_share"]) if len(classes) == 1 else ""
        found = f"since about {when}, texts labelled {_names(classes)} look stranger than before{share}"
    return f"Alarm: {found}; {promise}."


def _names(classes: list[dict[str, Any]]) -> str:
    strongest = sorted(classes, key=lambda group: group["highest_evidence"], reverse=True)
    shown = [f"'{group['label']}'" for group in strongest[:3]]
    if len(classes) > len(shown):
        shown.append(f"{len(classes) - len(shown)} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _foreign(share: dict[str, float] | None) -> str:
    if share is None:
        return ""
    value, low, high = (100 * share[key] for key in ("value", "low", "high"))
    return f"; about {value:.0f} % of the last {share['texts']:.0f} are foreign ({low:.0f} to {high:.0f} %)"
