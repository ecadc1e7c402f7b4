"""Which code figures were made with: lineages, and groups of stages."""

from __future__ import annotations

from masker.experiments.origins import latest_provenance, lineage, same_code, stage_origins
from masker.experiments.stages import Graph, make_stage, read_result
from tests.experiments.conftest import leave_record, origin

OLD, NEW = origin("a" * 40, "2030-01-01T00:00:00"), origin("b" * 40, "2030-01-02T00:00:00")


def stage(name, kind="train", provenance=OLD, **record):
    return {"id": name, "kind": kind, "took": 1.0, "provenance": provenance, **record}


def test_stages_are_grouped_by_commit_and_versions_in_order_of_time():
    newer = origin("b" * 40, "2030-01-03T00:00:00", torch="2.14.0")
    stages = [
        stage("x", "evaluate", newer),
        stage("a"),
        stage("b"),
        stage("c", "evaluate", NEW),
        stage("k", "keywords"),
    ]
    assert stage_origins(stages) == [
        {"commit": "a" * 40, "versions": OLD["versions"], "stages": {"train": 2, "keywords": 1}},
        {"commit": "b" * 40, "versions": NEW["versions"], "stages": {"evaluate": 1}},
        {"commit": "b" * 40, "versions": newer["versions"], "stages": {"evaluate": 1}},
    ]
    assert latest_provenance(stages) == newer


def test_a_stage_resumed_with_other_code_belongs_to_both():
    groups = stage_origins([stage("a", provenance=NEW, begun_with=OLD)])
    assert [(group["commit"][0], group["stages"]) for group in groups] == [("a", {"train": 1}), ("b", {"train": 1})]


def test_time_and_machine_make_no_difference():
    assert same_code(OLD, {**OLD, "created": "2031", "machine": "another"})
    assert not same_code(OLD, NEW)
    assert not same_code(OLD, origin("a" * 40, torch="3"))


def test_a_lineage_names_every_stage_once():
    """An evaluation and a keyword stage of the same model: three stages."""
    model = stage("model")
    records = [stage("evaluation", "evaluate", ancestors=[model]), stage("words", "keywords", ancestors=[model])]
    assert [entry["id"] for entry in lineage(records)] == ["model", "evaluation", "words"]


def test_one_stage_with_two_commits_in_the_same_second_is_two():
    first = stage("model", provenance=OLD)
    again = stage("model", provenance={**NEW, "created": OLD["created"]})
    records = [stage("e", "evaluate", ancestors=[first]), stage("k", "keywords", NEW, ancestors=[again])]
    assert [(group["commit"][0], group["stages"]) for group in stage_origins(lineage(records))] == [
        ("a", {"train": 1, "evaluate": 1}),
        ("b", {"train": 1, "keywords": 1}),
    ]


def test_a_record_remembers_its_dependencies_as_they_were(tmp_path):
    """The model is trained again with other code after its evaluation; the evaluation was that of the first one."""
    graph = Graph()
    model = graph.add(make_stage("train", {}))
    evaluation = graph.add(make_stage("evaluate", {}, [model.id]))
    leave_record(tmp_path, model, {}, provenance=OLD)
    leave_record(tmp_path, evaluation, {}, provenance=NEW)
    leave_record(tmp_path, model, {}, provenance=NEW)
    found = lineage([read_result(tmp_path, evaluation.id)])
    assert [(entry["kind"], entry["provenance"]["commit"][0]) for entry in found] == [("train", "a"), ("evaluate", "b")]
    assert set(found[0]) == {"id", "kind", "took", "provenance"}, "neither inputs nor results"
