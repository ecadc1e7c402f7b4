"""How many cores to compute on."""

from __future__ import annotations

import os

import pytest

from masker.inference import cores
from masker.inference.cores import usable_cores


@pytest.fixture
def eight_threads_on_four_cores(tmp_path, monkeypatch):
    """Hardware threads n and n + 4 share a core; the process may run on 0, 1, 4, 5 and 6."""
    for thread in range(8):
        folder = tmp_path / f"cpu{thread}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{thread % 4},{thread % 4 + 4}\n")
    monkeypatch.setattr(cores, "_TOPOLOGY", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 4, 5, 6}, raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    return tmp_path


def test_physical_cores_that_the_process_may_use(eight_threads_on_four_cores):
    assert usable_cores() == 3, "0 and 4, 1 and 5, 6"


def test_without_a_description_every_thread_is_a_core(eight_threads_on_four_cores, monkeypatch):
    monkeypatch.setattr(cores, "_TOPOLOGY", eight_threads_on_four_cores / "nowhere")
    assert usable_cores() == 5


@pytest.mark.parametrize(("value", "expected"), [("2", 2), (" 7 ", 7), ("4,2", 4), ("0", 3), ("", 3), ("many", 3)])
def test_the_users_choice(eight_threads_on_four_cores, monkeypatch, value, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert usable_cores() == expected


def test_systems_without_affinity(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores() == 1
