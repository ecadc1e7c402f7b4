import pytest

from masker.errors import ConfigError, DataError, MaskerError, ModelError, NoRowsError, did_you_mean


def test_a_close_word_is_suggested():
    assert did_you_mean("telefone", ["fiction", "telephone"]) == " Did you mean 'telephone'?"
    assert did_you_mean("xyz", ["fiction", "telephone"]) == ""
    assert did_you_mean("xyz", []) == ""


@pytest.mark.parametrize("error", [ConfigError, DataError, ModelError, NoRowsError])
def test_every_error_is_caught_by_the_base(error):
    assert issubclass(error, MaskerError)


def test_no_rows_is_a_problem_of_the_data():
    assert issubclass(NoRowsError, DataError)
