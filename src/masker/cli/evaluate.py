"""``masker evaluate``."""

from __future__ import annotations

import json
from typing import Any

import click

from masker.cli.options import backend_option, data_options, data_values, false_alarm_option, score_option


@click.command()
@click.argument("model")
@click.argument("test")
@click.option("--ood", multiple=True, metavar="FILE", help="Out-of-distribution texts; repeatable.")
@click.option(
    "--ood-where",
    multiple=True,
    metavar="COLUMN=VALUE[,...]",
    help="As --where, which is for TEST, for the out-of-distribution texts.",
)
@click.option("--resamples", type=click.IntRange(min=1), default=1000, show_default=True, help="Bootstrap resamples.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@score_option
@false_alarm_option
@backend_option
@data_options
def evaluate(
    model: str,
    test: str,
    ood: tuple[str, ...],
    ood_where: tuple[str, ...],
    resamples: int,
    as_json: bool,
    score: str | None,
    false_alarm_rate: float | None,
    backend: str | None,
    **options: Any,
) -> None:
    """Measure the model in the folder MODEL on the labelled file TEST and on out-of-distribution files.

    Accuracy and calibration; the false-alarm rate that TEST shows, with its interval; how many errors are left when
    only the most certain texts are answered (AURC); detection of each out-of-distribution file.
    """
    from masker.classifier import MaskerClassifier
    from masker.commands.train import evaluation_documents
    from masker.config import build_settings
    from masker.documents.filters import parse_where
    from masker.errors import ConfigError
    from masker.progress import progress_bar
    from masker.report.console import print_evaluation

    if ood_where and not ood:
        raise ConfigError("--ood-where chooses rows of out-of-distribution texts; give them with --ood FILE")
    settings = build_settings({"data": data_values(options)})
    classifier = MaskerClassifier.load(model, backend, score, false_alarm_rate)
    documents, out = evaluation_documents(classifier, test, list(ood), settings.data, parse_where(ood_where))
    with progress_bar(len(documents) + sum(map(len, out.values())), "evaluate", "doc") as bar:
        report = classifier.evaluate(documents, out, resamples=resamples, advance=bar.update)
    if as_json:
        click.echo(json.dumps(report, indent=1))
    else:
        print_evaluation(report)
