"""Bad values are one line that names the key; random hyper-parameters are valid."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, field_validator

from npt.compact.search_space import draw as draw_compact
from npt.compact.settings import CompactSettings
from npt.errors import UserError
from npt.nn.search_space import draw
from npt.nn.settings import NPTSettings
from npt.validation import Strict, validated

ENCODED = {
    "encoder": "resnet18",
    "between_attributes": False,
    "feature_mask": 0,
    "tradeoff_start": 0,
}
LOOKUP = {"lookup": "original", "feature_mask": 0, "tradeoff_start": 0}
COMPACT = CompactSettings()
NPT = NPTSettings(width=32)
BAD_COMPACT = [
    ("width", 0),
    ("width", 97),
    ("width", "96"),
    ("token_width", 30),
    ("heads", 2.5),
    ("members", 65),
    ("similarity", "cosine"),
    ("bin_scale", []),
    ("bin_scale", [0.1, 0.0]),
    ("dropout", [0.1] * 9),
    ("dropout", [1.0]),
    ("feature_mask", [float("nan")]),
    ("context_dropout", 1.0),
    ("patience", 0),
    ("transductive", "yes"),
    ("dropuot", [0.1]),
]
BAD_NPT = [
    ({"width": 10, "heads": 4}, "width"),
    ({"layers": 3}, "layers"),
    ({"between_attributes": False, "between_datapoints": False}, "between_datapoints"),
    ({"feature_mask": 0}, "tradeoff_start"),
    ({"tradeoff": "constant"}, "tradeoff_start"),
    ({"own_rows": True}, "transductive"),
    ({**LOOKUP, "target_mask": 0.5}, "target_mask"),
    ({"lookup": "duplicate"}, "lookup"),
    ({"patch_shape": "round"}, "patch_shape"),
    ({"span_threshold": 0.1}, "span_threshold"),
    ({"span_form": "multiplied", "kernel": "l2"}, "span_form"),
    ({"kernel": "span", "between_datapoints": False}, "kernel"),
    ({"kernel": "span", "attends_to": "self"}, "kernel"),
    ({"attends_to": "self", "between_datapoints": False}, "attends_to"),
    ({"kernel": "span", "span_threshold": 1.0}, "span_threshold"),
    ({"kernel": "span", "span": 0}, "span"),
    ({**ENCODED, "between_attributes": True}, "between_attributes"),
    ({**ENCODED, "feature_mask": 0.1}, "feature_mask"),
    ({**ENCODED, "target_mask": 0.5}, "target_mask"),
    ({"pooling": 2}, "pooling"),
    ({"pixels": {"threshold": 0.1}}, "threshold"),
    ({"pixels": {"positions": "sinusoids"}}, "positions"),
]
CASES = [(NPTSettings, changes, key) for changes, key in BAD_NPT]
CASES += [(CompactSettings, {key: value}, key) for key, value in BAD_COMPACT]


@pytest.mark.parametrize(("kind", "changes", "key"), CASES)
def test_bad_values_name_their_key(kind: type[Any], changes: dict[str, Any], key: str) -> None:
    with pytest.raises(UserError, match=rf"^method\b.*\b{key}\b") as refused:
        validated(kind, changes, "method")
    assert "\n" not in str(refused.value)


def test_batches_are_bounded_shares_of_the_train_rows() -> None:
    sizes = {rows: COMPACT.batch_size(rows) for rows in (2, 31, 32, 1000, 1024, 3200, 8192, 10**6)}
    assert sizes == {2: 2, 31: 31, 32: 32, 1000: 32, 1024: 32, 3200: 100, 8192: 256, 10**6: 256}
    declared = COMPACT.changed(batch_rows=50)
    assert [declared.batch_size(rows) for rows in (20, 50, 10**6)] == [20, 50, 50]


@pytest.mark.parametrize(
    ("draw", "base", "different"), [(draw, NPT, 55), (draw_compact, COMPACT, 30)]
)
def test_draws_are_valid_differ_and_come_again(draw: Any, base: Any, different: int) -> None:
    draws = [draw(base, f"yacht {number}") for number in range(60)]
    assert draws == [draw(base, f"yacht {number}") for number in range(60)]
    assert len(set(map(repr, draws))) > different
    for changes in draws:
        settings = base.changed(**changes)
        assert all(getattr(base, key) != value for key, value in changes.items())
        assert settings.batch_rows == base.batch_rows
        assert settings.width * settings.layers <= 2 * base.width * base.layers
        assert settings.updates // base.updates in ({1} if base is NPT else {1, 2})


def test_draws_vary_masks_or_keep_their_absence() -> None:
    masks = {draw(NPT, str(number)).get("target_mask", 1.0) for number in range(60)}
    assert masks == {0.1, 0.15, 0.5, 1.0}
    unmasked = NPT.changed(feature_mask=0.0, tradeoff_start=0.0)
    assert all("feature_mask" not in draw(unmasked, str(number)) for number in range(20))


@pytest.mark.parametrize("changes", [{"width": 8192}, {"learning_rate": 10.0}, {}])
def test_draws_do_not_enlarge_a_compact_network(changes: dict[str, Any]) -> None:
    base = COMPACT.changed(**changes)
    for number in range(30):
        settings = base.changed(**draw_compact(base, str(number)))
        assert settings.members == base.members
        for name in ("width", "bins", "layers"):
            assert getattr(settings, name) <= getattr(base, name)


class Inner(Strict):
    width: Annotated[int, Field(ge=1)] = 1


class Outer(Strict):
    name: str
    task: Literal["binary", "regression"] = "binary"
    inner: Inner = Inner()
    letter: Annotated[str, Field(max_length=1)] = ""
    names: Annotated[tuple[str, ...], Field(min_length=1)] = ("a",)
    pair: Annotated[tuple[str, ...], Field(max_length=2)] = ()
    by_name: dict[Annotated[str, Field(pattern="^[a-z]+$")], Inner] = Field(default_factory=dict)

    @field_validator("name")
    @classmethod
    def _not_empty(cls, name: str) -> str:
        if not name:
            raise ValueError("is empty")
        return name


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "top.name: missing"),
        ({"name": ""}, "top.name: is empty"),
        ({"name": 3}, "top.name: 3 should be a valid string"),
        ({"name": "a", "letter": "ab"}, "top.letter: 'ab' should have at most 1 character"),
        ({"name": "a", "names": ()}, "top.names: is empty"),
        (
            {"name": "a", "pair": ("a",) * 3},
            "top.pair: ('a', 'a', 'a') should have at most 2 items",
        ),
        ({"name": "a", "inner": {"width": 0}}, "top.inner.width: 0 "),
        ({"name": "a", "inner": {"width": True}}, "top.inner.width: True "),
        ({"name": "a", "task": "binar"}, "top.task: 'binar' is unknown; did you mean 'binary'?"),
        ({"nam": "a"}, "top: 'nam' is unknown; did you mean 'name'?"),
        ({"name": "a", "inner": {"wdth": 1}}, "top.inner: 'wdth' is unknown; did you mean 'width'"),
        ({"name": "a", "by_name": {"x": {"w": 1}}}, "top.by_name.x: 'w' is unknown"),
        ({"name": "a", "by_name": {"X": {}}}, "top.by_name: 'X' "),
    ],
)
def test_error_is_one_line_with_the_key(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as error:
        validated(Outer, values, "top")
    assert str(error.value).startswith(message), str(error.value)
    assert "\n" not in str(error.value)
