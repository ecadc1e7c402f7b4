from __future__ import annotations

import json

import numpy as np
import pytest

from masker.monitoring.packed_arrays import pack_array, unpack_array


@pytest.mark.parametrize("array", [np.array([1.5, -2.0, 1 / 3]), np.arange(6).reshape(2, 3), np.empty(0)])
def test_json_and_back_is_exact(array):
    again = unpack_array(json.loads(json.dumps(pack_array(array))))
    np.testing.assert_array_equal(again, array)
    assert again.dtype == array.dtype and again.flags.writeable


def test_only_numbers_of_that_shape():
    packed = pack_array(np.arange(4.0))
    for damage in ({"dtype": "|O"}, {"dtype": "<U4"}, {"shape": [5]}, {"base64": "%%%"}, {"base64": "AAA="}):
        with pytest.raises(ValueError, match=r"."):
            unpack_array({**packed, **damage})


def test_letters_that_do_not_belong_there_are_refused():
    packed = pack_array(np.arange(4.0))
    with pytest.raises(ValueError, match=r"."):
        unpack_array({**packed, "base64": "!" + packed["base64"]})
