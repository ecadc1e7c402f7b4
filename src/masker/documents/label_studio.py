"""Label Studio's JSON: tasks to label, and the annotations that come back.

A task has its texts in ``data``, suggestions in ``predictions`` and answers in ``annotations``. An answer is a choice,
or a typed name, which stands for a class that is not among the choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

_CHOICE, _TYPED = "label", "new_label"


def to_task(text: str, pair: str | None, label: str, confidence: float | None, **facts: Any) -> dict[str, Any]:
    """A task with a suggestion, the model's own if it has a confidence; ``facts`` are shown beside the text."""
    texts = {"text": text} if pair is None else {"text": text, "text_pair": pair}
    choice = {"from_name": _CHOICE, "to_name": "text", "type": "choices", "value": {"choices": [label]}}
    sure = {} if confidence is None else {"score": confidence}
    prediction = {"model_version": "masker", **sure, "result": [choice]}
    return {"data": {**texts, **facts}, "predictions": [prediction]}


def labelling_config(classes: Sequence[str], *, pairs: bool) -> str:
    """The labelling interface of a project: one of the classes, or another name."""
    second = ['  <Text name="text_pair" value="$text_pair"/>'] if pairs else []
    choices = [f"    <Choice value={quoteattr(name)}/>" for name in classes]
    return "\n".join(
        [
            "<View>",
            '  <Text name="text" value="$text"/>',
            *second,
            f'  <Choices name="{_CHOICE}" toName="text" choice="single">',
            *choices,
            "  </Choices>",
            f'  <TextArea name="{_TYPED}" toName="text" placeholder="another class" maxSubmissions="1"/>',
            "</View>",
            "",
        ]
    )


def from_task(record: dict[str, Any]) -> dict[str, Any]:
    """The texts and the label of an annotated task; a record of another form stays as it is."""
    data, annotations = record.get("data"), record.get("annotations")
    if not isinstance(data, dict) or not isinstance(annotations, list):
        return record
    return {**data, "label": next((label for made in reversed(annotations) if (label := _answer(made))), None)}


def _answer(annotation: Any) -> str | None:
    """The label that an annotation gives: what was typed, or else what was chosen."""
    if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
        return None
    parts = annotation.get("result")
    values = [part.get("value") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    for key in ("text", "choices"):
        for value in values:
            given = value.get(key) if isinstance(value, dict) else None
            given = given[0] if isinstance(given, list) and given else given
            if isinstance(given, str) and given.strip():
                return given.strip()
    return None
