import pytest

from masker.corpora import list_corpora

pytestmark = pytest.mark.usefixtures("cache")


def test_all_corpora_of_the_paper_are_known():
    wanted = "20newsgroups amazon20 amazon24 amazon50 finefood grocery imdb mnli mnli-nogenre reuters sst2 stsb xnli-en"
    known = {info.name: info for info in list_corpora()}
    assert set(wanted.split()) <= set(known)
    assert all(info.terms and info.about and info.splits for info in known.values())


def test_every_source_is_in_the_catalogue():
    from masker.corpora.catalogue import CATALOGUE
    from masker.corpora.hub_corpora import HUB_CORPORA
    from masker.corpora.published_forms import PUBLISHED_FORMS
    from masker.corpora.wheels import WHEEL_CORPORA

    assert {*HUB_CORPORA, *WHEEL_CORPORA, *PUBLISHED_FORMS} <= set(CATALOGUE)
    for name, corpus in HUB_CORPORA.items():
        assert tuple(corpus.splits) == CATALOGUE[name].splits, name
        # "group" is an extra column of stsb, not one a user has to supply.
        assert set(corpus.columns) - {"group"} == set(CATALOGUE[name].fields), name


def test_corpora_of_intents_are_known_without_a_folder():
    known = {info.name: info for info in list_corpora()}
    for name in ("hwu64", "atis", "snips"):
        assert known[name].splits == ("train", "dev", "test"), name
    for bot in ("curekart", "powerplay11", "sofmattress"):
        assert known[f"hint3-{bot}"].splits == ("train", "test", "ood")
    assert known["banking77"].rows == {"train": 10003, "test": 3080}
