"""The files of a report: one page, the data behind it, and its figures as SVG and PNG."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from masker.analysis.report_data import Report
from masker.errors import MissingPackageError
from masker.extras import EXTRAS
from masker.files import atomic_path, write_json, write_text
from masker.modeling.model_folder import MANIFEST

if TYPE_CHECKING:
    from masker.report.figures.canvas import Picture

PAGE, DATA, FIGURES = "report.html", "report.json", "figures"
_PACKAGES = tuple(package for package, extra in EXTRAS.items() if extra == "report")
#: Dots per inch of the PNG files.
RESOLUTION = 160


@dataclass(frozen=True)
class ReportFiles:
    """What was written."""

    page: Path
    figures: list[str]  # names without ending


def report_folder(model: str | Path) -> Path:
    """Where a report goes by default: beside the folder of a model, or into that of a run."""
    folder = Path(model).expanduser()
    if (folder / MANIFEST).is_file():
        return folder.parent / f"{folder.resolve().name}.report" if folder.name else Path(f"{folder.resolve()}.report")
    return folder / "report"


def missing_packages() -> list[str]:
    """Packages that a report needs and that are not installed."""
    return [name for name in _PACKAGES if not _is_installed(name)]


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ImportError:
        return False


def require_packages() -> None:
    """Check before any work that a report can be drawn."""
    missing = missing_packages()
    if missing:
        raise MissingPackageError(
            f"a report needs {', '.join(missing)}; install what is missing with pip install 'masker[report]'"
        )


def write_report_files(report: Report, folder: Path) -> ReportFiles:
    """Write page, data and figures; replaces those of an earlier report."""
    require_packages()
    import matplotlib

    from masker.report.figures.canvas import STYLE
    from masker.report.figures.gallery import draw_pictures
    from masker.report.inline_svg import svg_file, svg_in_page, svg_of
    from masker.report.model_page import ShownFigure, model_page

    figures = folder / FIGURES
    figures.mkdir(parents=True, exist_ok=True)
    shown: dict[str, list[ShownFigure]] = {}
    with matplotlib.rc_context(STYLE):
        for section, pictures in draw_pictures(report).items():
            for picture in pictures:
                svg = svg_of(picture)
                write_text(figures / f"{picture.name}.svg", svg_file(svg))
                _write_png(picture, figures / f"{picture.name}.png")
                inline = svg_in_page(svg, picture.name)
                part = ShownFigure(picture.name, picture.title, picture.caption, inline, picture.shape)
                shown.setdefault(section, []).append(part)
    names = [figure.name for part in shown.values() for figure in part]
    for leftover in figures.iterdir():
        if leftover.suffix in (".svg", ".png") and leftover.stem not in names:
            leftover.unlink()
    write_json(folder / DATA, report.to_json())
    write_text(folder / PAGE, model_page(report, shown))
    return ReportFiles(folder / PAGE, names)


def _write_png(picture: Picture, path: Path) -> None:
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font lacks become boxes
        picture.canvas.savefig(buffer, format="png", dpi=RESOLUTION, metadata={"Software": None})
    with atomic_path(path) as temporary:
        temporary.write_bytes(buffer.getvalue())
