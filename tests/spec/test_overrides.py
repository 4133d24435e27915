"""What a call changes in a spec, and what it is told where the spec has no place for it."""

from __future__ import annotations

import pytest

from tests.spec.base import BASE, load
from tsc.spec.overrides import Define, Overrides, Setting, UsageError, apply, parse_overrides, read_route


def test_a_constant_is_set() -> None:
    spec, said = load(BASE, defines=["ROWS=128", "STAGES=0x10"])
    assert said == [] and spec is not None
    assert spec.constants == {"ROWS": 128, "STAGES": 16}


def test_a_dim_becomes_a_constant_and_leaves_its_promises() -> None:
    spec, said = load(BASE, defines=["n=4096"])
    assert said == [] and spec is not None
    assert spec.constants == {"ROWS": 64, "STAGES": 4, "n": 4096} and spec.dims == {}


def test_a_place_is_set() -> None:
    settings = ["resources.tiles.policy=clc", "tasks.store.schedule[0].body[3].keep=1", "launch.ctas=2 * sms"]
    spec, said = load(BASE, settings=settings)
    assert said == [] and spec is not None
    assert spec.resources["tiles"].policy == "clc"  # type: ignore[union-attr]
    assert spec.tasks["store"].schedule[0].body[3].keep.text == "1"  # type: ignore[union-attr]
    assert spec.launch.ctas is not None and spec.launch.ctas.text == "2 * sms"


def test_values_are_those_of_yaml() -> None:
    texts = [
        "a=1",
        "a=true",
        "a=0x10",
        "a=text",
        "a='1'",
        "a=[1, {b: c}]",
        "a=",
        "a= 1.5 ",
        "a=x > 0",
        "a=b=c",
    ]
    values = [setting.value for setting in parse_overrides([], texts).settings]
    assert values == [1, True, 16, "text", "1", [1, {"b": "c"}], None, 1.5, "x > 0", "b=c"]


def test_the_data_of_the_document_stays_as_it_is() -> None:
    shared = {"kind": "smem"}
    data = {"resources": {"a": shared, "b": shared}, "tasks": {"t": {"schedule": [{"wait": "a"}]}}}
    changes = Overrides(
        settings=(
            Setting(("resources", "a", "stages"), 2, ""),
            Setting(("tasks", "t", "schedule", 0, "wait"), "b", ""),
        )
    )
    changed, findings = apply(data, changes)
    assert findings == ()
    assert changed == {
        "resources": {"a": {"kind": "smem", "stages": 2}, "b": {"kind": "smem"}},
        "tasks": {"t": {"schedule": [{"wait": "b"}]}},
    }
    assert data["resources"] == {"a": {"kind": "smem"}, "b": {"kind": "smem"}}
    assert data["tasks"] == {"t": {"schedule": [{"wait": "a"}]}}


def test_places_name_the_option() -> None:
    changes = parse_overrides(["ROWS=128"], ["launch.ctas=2"])
    assert changes.places() == {
        ("constants", "ROWS"): "-D ROWS=128",
        ("launch", "ctas"): "--set launch.ctas=2",
    }
    assert changes.defines == (Define("ROWS", 128, "-D ROWS=128"),)


@pytest.mark.parametrize(
    ("text", "route", "end"),
    [
        ("tasks.load.schedule[0].acquire=x", ("tasks", "load", "schedule", 0, "acquire"), 30),
        ('verify.inputs."a.b"[12]', ("verify", "inputs", "a.b", 12), 23),
        (r'a."say \"hi\""', ("a", 'say "hi"'), 14),
        ("a.b.=1", ("a", "b"), 3),
        ("[0].a", (), 0),
        (".a", (), 0),
        ("a b", ("a",), 1),
        ("a[99999999999]", ("a",), 1),
    ],
)
def test_routes_are_read(text: str, route: tuple[str | int, ...], end: int) -> None:
    assert read_route(text) == (route, end)


@pytest.mark.parametrize(
    ("defines", "settings", "sentence"),
    [
        (["ROWS"], [], "`-D ROWS` has not the form `-D NAME=VALUE`"),
        (["a.b=1"], [], "`-D a.b=1` has not the form `-D NAME=VALUE`"),
        (
            ["ROWS=many"],
            [],
            "`-D ROWS=many`: a constant is an integer, `true` or `false`, and this is the text `many`",
        ),
        (["ROWS="], [], "`-D ROWS=`: a constant is an integer, `true` or `false`, and this is nothing"),
        (
            [],
            ["a.b"],
            "`--set a.b` has not the form `--set ROUTE=VALUE`, as in `resources.ring.stages=4`",
        ),
        (
            [],
            ["a..b=1"],
            "`--set a..b=1` has not the form `--set ROUTE=VALUE`, as in `resources.ring.stages=4`",
        ),
        ([], ["a=1\nb: 2"], "`--set a=1 b: 2`: a value stands on one line"),
    ],
)
def test_an_option_without_its_form_is_refused(
    defines: list[str], settings: list[str], sentence: str
) -> None:
    with pytest.raises(UsageError) as caught:
        parse_overrides(defines, settings)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("value", ["[1", "{a: 1", "*x", "!tag 1", "a: b: c"])
def test_a_value_that_is_no_yaml_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match=r"the value of `--set a=.*` cannot be read"):
        parse_overrides([], [f"a={value}"])


NO_PLACE = {
    "constant": (
        ["ROW=1"],
        [],
        "4:1 'constants' bad-override: `-D ROW=1` sets nothing: no constant and no dim is called `ROW`; "
        "did you mean `ROWS`?",
    ),
    "param": (
        ["x=1"],
        [],
        "6:3 'x' bad-override: `-D x=1` sets a constant or a dim, and `x` stands under `params`; "
        "use `--set params.x=...` to change it",
    ),
    "multiple": (
        ["n=12"],
        [],
        "8:25 '8' bad-override: `-D n=12` breaks the promise that `n` is a multiple of 8",
    ),
    "most": (
        ["n=8192"],
        [],
        "8:33 '4096' bad-override: `-D n=8192` breaks the promise that `n` is at most 4,096",
    ),
    "resource": (
        [],
        ["resources.tils.policy=clc"],
        "9:1 'resources' bad-override: `--set resources.tils.policy=clc` sets nothing: `resources` has no "
        "`tils`; did you mean `tiles`?",
    ),
    "key": (
        [],
        ["resources.tiles.polcy=clc"],
        "10:3 'tiles' bad-override: `--set resources.tiles.polcy=clc` sets nothing: `tiles` has no `polcy`; "
        "did you mean `policy`?",
    ),
    "key of a choice that is not written": (
        [],
        ["resources.tiles.order.kind=group_major"],
        "10:3 'tiles' bad-override: `--set resources.tiles.order.kind=group_major` sets nothing: `tiles` has "
        "no `order`; set it whole: `--set 'resources.tiles.order={kind: ...}'`",
    ),
    "key of what is not written": (
        [],
        ["launch.ctsa=4"],
        "1:1 'tsc' bad-override: `--set launch.ctsa=4` sets nothing: `launch` has no `ctsa`; "
        "did you mean `ctas`?",
    ),
    "new constant": (
        [],
        ["constants.NEW=4"],
        "4:1 'constants' bad-override: `--set constants.NEW=4` sets nothing: `constants` has no `NEW`; "
        "no names are added; `--set 'constants={...}'` writes all of them",
    ),
    "entry": (
        [],
        ["tasks.load.schedule[0].body[7]=x"],
        "18:9 'body' bad-override: `--set tasks.load.schedule[0].body[7]=x` sets nothing: `body` has 3 "
        "entries, counted from 0, and none is `[7]`",
    ),
    "key of a list": (
        [],
        ["tasks.load.schedule.body=x"],
        "16:5 'schedule' bad-override: `--set tasks.load.schedule.body=x` sets nothing: `schedule` is a "
        "list, and `body` is a key",
    ),
    "index of a mapping": (
        [],
        ["tasks[0]=x"],
        "13:1 'tasks' bad-override: `--set tasks[0]=x` sets nothing: `tasks` is a mapping, and `[0]` is an "
        "index",
    ),
    "part of a number": (
        [],
        ["tasks.load.warps.x=1"],
        "15:5 'warps' bad-override: `--set tasks.load.warps.x=1` sets nothing: `warps` is the number 1 and "
        "has no parts",
    ),
}


@pytest.mark.parametrize(("defines", "settings", "said"), NO_PLACE.values(), ids=NO_PLACE)
def test_what_is_said_without_a_place(defines: list[str], settings: list[str], said: str) -> None:
    assert load(BASE, defines, settings) == (None, [said])


def test_a_promise_is_held_in_constants() -> None:
    text = BASE.replace("multiple_of: 8, max: 4096", "multiple_of: ROWS, min: 2 * ROWS")
    assert load(text, ["n=64"])[1] == [
        "8:36 '2 * ROWS' bad-override: `-D n=64` breaks the promise that `n` is at least 128"
    ]
    assert load(text, ["n=128"])[1] == []
    assert load(text, ["ROWS=32", "n=96"])[1] == []


def test_a_wrong_value_is_found_like_a_written_one() -> None:
    spec, said = load(BASE, settings=["resources.tiles.policy=clk"])
    assert spec is None
    assert said == [
        "10:32 'static' wrong-choice: `policy` is one of `grid`, `static`, `atomic` and `clc`, and this is "
        "`clk`; did you mean `clc`?"
    ]
