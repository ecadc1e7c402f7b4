"""``masker keywords``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from masker.cli import options as shared


@click.command(name="keywords", cls=shared.SectionedCommand, short_help="Show the keywords of data or of a model.")
@click.argument("source", metavar="DATA|MODEL")
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="How many.  [default: 10 per class]")
@click.option("--class-balanced", is_flag=True, default=None, help="Equally many for each class.")
@click.option("--exclude-stop-words", is_flag=True, default=None, help="No English stop words.")
@click.option("--exclude-punctuation", is_flag=True, default=None, help="No tokens without letters or digits.")
@click.option("--output", type=click.Path(), metavar="FILE", help="Save the set for 'masker train --keywords FILE'.")
@shared.json_option
@shared.settings_options
@shared.keywords_option("frequency")
@shared.data_options
@shared.device_option
def keywords_command(source: str, output: str | None, as_json: bool, device: str, **options: Any) -> None:
    """Rank the keywords of DATA, or show those that MODEL was trained with.

    Frequency keywords need no training; --keywords attention trains a vanilla model first, or reads the one given by
    --attention-model.
    """
    from masker.errors import ConfigError

    is_model = (Path(source) / "masker.json").is_file()
    given = sorted(f"--{key.replace('_', '-')}" for key, value in options.items() if value not in (None, (), False))
    if is_model and given:
        raise ConfigError(f"'{source}' is a model and has its keywords already; leave {', '.join(given)} out")
    if output is not None and not Path(output).absolute().parent.is_dir():
        raise ConfigError(f"--output: there is no folder '{Path(output).parent}'; make it first")
    chosen = {key: options.pop(key) for key in ("count", "class_balanced", "exclude_stop_words", "exclude_punctuation")}
    if options["keywords"] is None:
        options["keywords"] = "attention" if options["attention_model"] else "frequency"
    settings = shared.build_from_options(options, keywords=chosen)

    from masker import distributed
    from masker.commands.keywords import keywords_of_data, keywords_of_model
    from masker.files import write_text
    from masker.report.console import print_keywords

    found = keywords_of_model(source) if is_model else keywords_of_data(source, settings, device)
    if not distributed.is_first():
        return
    if output is not None:
        write_text(output, found.dumps())
    if as_json:
        click.echo(found.dumps())
    else:
        print_keywords(found)
