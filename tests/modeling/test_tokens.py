"""Which tokens are content."""

from types import SimpleNamespace

from masker.modeling.tokens import special_ids_of


def test_special_ids_leave_the_unknown_token_in():
    tokenizer = SimpleNamespace(all_special_ids=[0, 1, 2, 3, 4], unk_token_id=3, pad_token_id=0)
    assert special_ids_of(tokenizer) == {0, 1, 2, 4}


def test_a_padding_token_that_is_also_the_unknown_token_is_not_content():
    tokenizer = SimpleNamespace(all_special_ids=[0, 1, 2], unk_token_id=0, pad_token_id=0)
    assert special_ids_of(tokenizer) == {0, 1, 2}
