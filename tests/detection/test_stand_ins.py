"""Stand-ins keep keywords and lose context."""

import numpy as np

from masker.config import MaskingSettings
from masker.detection.stand_ins import stand_in_documents
from masker.documents.encoding import Encoded
from masker.keywords import Keyword, KeywordSet


def test_keywords_stay_and_context_goes(tiny_backbones):
    from masker.modeling.backbone import load_tokenizer

    tokenizer = load_tokenizer(tiny_backbones["bert"])
    texts = ["the rocket was near the moon", "we found soup"] * 20
    rows = [np.array(tokenizer(text)["input_ids"], dtype=np.int64) for text in texts]
    encoded = Encoded(rows, None, np.zeros(40, dtype=np.int64), np.arange(40))
    ids = tokenizer.convert_tokens_to_ids(["rocket", "soup"])
    words = ("rocket", "soup")
    chosen = tuple(Keyword(word, (token,), 1.0) for word, token in zip(words, ids, strict=True))
    keywords = KeywordSet("user", chosen, len(tokenizer))
    views = stand_in_documents(encoded, keywords, tokenizer, MaskingSettings(), 0)
    assert set(views) == {"context masked", "keywords only"}
    masked = views["context masked"].input_ids
    assert all(
        np.isin(before, ids).sum() == np.isin(after, ids).sum() for before, after in zip(rows, masked, strict=True)
    )
    share = np.mean([(row == tokenizer.mask_token_id).sum() / (len(row) - 3) for row in masked])
    assert 0.8 < share < 1.0  # q = 0.9 of what is neither special nor a keyword
    assert tokenizer.decode(views["keywords only"].input_ids[0], skip_special_tokens=True) == "rocket"
    assert set(stand_in_documents(encoded, None, tokenizer, MaskingSettings(), 0)) == {"context masked"}
