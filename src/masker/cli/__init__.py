"""The command line. Each command parses, calls one library function and prints.

stdout is data; progress and messages go to stderr. Heavy imports happen inside commands, so ``--help`` is instant.
"""

from __future__ import annotations

import io
import logging
import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from masker import distributed
from masker.cli.audit import audit_command
from masker.cli.calibrate import calibrate_command
from masker.cli.data import data
from masker.cli.demo import demo_command
from masker.cli.discover import discover_command
from masker.cli.evaluate import evaluate_command
from masker.cli.export import export_command
from masker.cli.extend import extend_command
from masker.cli.keywords import keywords_command
from masker.cli.monitor import monitor_command
from masker.cli.predict import predict_command
from masker.cli.report import report_command
from masker.cli.reproduce import reproduce_command
from masker.cli.review import review_command
from masker.cli.serve import serve_command
from masker.cli.train import train_command
from masker.errors import MaskerError
from masker.extras import explained

#: \b keeps click from joining the lines of a block.
_HELP = """Text classifiers that know when they do not know.

\b
masker demo                                  see it work, start to finish
masker train data.csv --output model         train on columns text and label
masker predict model new.csv                 label, confidence, ood_score, ...
masker evaluate model test.csv --ood other.csv
masker report model --test test.csv --ood other.csv     one page with figures
masker calibrate model held_out.csv --false-alarm-rate 0.01
masker serve model                           answer over HTTP, with a page
"""


@contextmanager
def _until_the_reader_leaves() -> Iterator[None]:
    """Succeed when the reader (head, say) has what it wants. click would end with code 1, and tells nobody why."""
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it flushes at exit
        raise click.exceptions.Exit(0) from None


class _Commands(click.Group):
    """Lists commands in the order in which people meet them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def make_context(self, *args: Any, **more: Any) -> click.Context:  # which shows --help
        with _until_the_reader_leaves():
            return super().make_context(*args, **more)

    def invoke(self, ctx: click.Context) -> Any:
        with _until_the_reader_leaves():
            return super().invoke(ctx)


@click.group(
    cls=_Commands, help=_HELP, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(package_name="masker")
def cli() -> None:  # noqa: D103 - its help is above
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr, force=True)
    logging.getLogger("masker").setLevel(logging.INFO if distributed.is_first() else logging.ERROR)
    if distributed.world_size() > 1:
        # Otherwise every process warns at length that it looked for unused parameters in vain.
        os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")


for command in (
    demo_command, train_command, predict_command, evaluate_command, report_command, calibrate_command, monitor_command,
    discover_command, review_command, extend_command, keywords_command, audit_command, export_command, serve_command,
    data, reproduce_command,
):  # fmt: skip
    cli.add_command(command)


def main() -> None:
    """Run the command line: a user's problem is one line on stderr and exit code 2, never a traceback."""
    with distributed.connections_closed():
        _run()


def _run() -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # class names and texts are written unchanged, whatever the locale
    try:
        cli.main(standalone_mode=False)
    except click.ClickException as error:
        if distributed.is_first():
            error.show()
        sys.exit(error.exit_code)
    except MaskerError as error:
        _fail(str(error), 2)
    except (KeyboardInterrupt, click.Abort):
        _fail("interrupted; repeat the command to resume", 130)
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        _fail(f"{error.strerror or error}{place}; nothing was lost: fix it and repeat the command", 2)
    except ImportError as error:
        explanation = explained(error)
        if explanation is None:
            raise
        _fail(str(explanation), 2)
    except RuntimeError as error:
        if not distributed.is_lost_connection(error):
            raise
        _fail("another process of this run is gone; repeat the command to resume", 2)


def _fail(message: str, code: int) -> None:
    if distributed.is_first():  # one of many that fail alike
        # A message may quote a file; a terminal obeys its control characters.
        shown = "".join(
            sign if sign == "\n" or unicodedata.category(sign) != "Cc" else repr(sign)[1:-1] for sign in message
        )
        click.echo(f"masker: {shown}", err=True)
    sys.exit(code)
