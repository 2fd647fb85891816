"""Writing a prompt that was found into the configuration, with where it came from."""

from __future__ import annotations

from pathlib import Path

from good_ros.core.errors import InputError
from good_ros.optimize.report import RunReport
from good_ros.optimize.run import make_task


def apply(report: RunReport, name: str, folder: Path) -> Path:
    """The file of ``folder`` that now holds the prompt; one that was there is kept beside it.

    Raises InputError where the prompt is not there or the file cannot be written.
    """
    prompt = report.prompt(name)
    task = make_task(report.settings["task"])
    figures = report.as_json()
    held = ""
    if figures["held_back_best"] is not None and prompt["key"] == figures["best"]:
        held = (
            f"; on held-back instances {figures['held_back_best']:.3f}, "
            f"the start prompt {figures['held_back_start']:.3f}"
        )
    models = report.settings["models"]
    provenance = (
        f"Found by good optimize (PROMST), run {report.folder.resolve().name}, prompt "
        f"{prompt['key']}, method {report.settings['method']}, seed {report.settings['seed']}, "
        f"acting model {models['task']}, writing model {models.get('prompt', models['task'])}; "
        f"score {prompt['score']:.3f}, the start prompt {figures['start_score']:.3f}{held}."
    )
    file_name, text = task.as_file(prompt["text"], provenance)
    path = folder / f"{file_name}.yaml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.exists():
            if path.read_text(encoding="utf-8") == text:
                return path
            path.rename(_free_name(path))
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error}") from error
    return path


def _free_name(path: Path) -> Path:
    number = 1
    while (kept := path.with_suffix(f".yaml.{number}")).exists():
        number += 1
    return kept
