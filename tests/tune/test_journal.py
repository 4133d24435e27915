"""The journal: what is kept, what is begun anew, and what a crash leaves."""

from __future__ import annotations

import io
from pathlib import Path

from tsc.tune.journal import Journal
from tsc.tune.progress import Progress


def records(path: Path, **about: str) -> list[dict[str, object]]:
    with Journal(path, about) as journal:
        return list(journal.records)


def test_records_are_there_at_once_and_in_the_next_process(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path, {"spec": "a"}) as journal:
        assert not journal.resumed
        journal.add({"race": [1], "seconds": 0.5})
        assert path.read_text().splitlines()[1] == '{"race": [1], "seconds": 0.5}'
        journal.add({"failed": "p1"})
        assert [one["failed"] for one in journal.of("failed")] == ["p1"]
    with Journal(path, {"spec": "a"}) as again:
        assert again.resumed
        again.add({"failed": "p2"})
        assert [one["failed"] for one in again.of("failed")] == ["p1", "p2"]


def test_a_journal_about_something_else_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path, {"spec": "a"}) as journal:
        journal.add({"x": 1})
    assert records(path, spec="b") == []
    assert len(path.read_text().splitlines()) == 1


def test_what_a_crash_cut_off_is_left_out_and_spoils_nothing(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path, {"spec": "a"}) as journal:
        journal.add({"x": 1})
    for torn in ('{"x": 2', '"x"', "\0\0\0"):
        with path.open("a") as file:
            file.write(torn)
        with Journal(path, {"spec": "a"}) as journal:
            assert journal.records == [{"x": 1}]
            journal.add({"y": torn})
        assert records(path, spec="a") == [{"x": 1}, {"y": torn}]
        with Journal(path, {"spec": "b"}) as journal:
            pass
        with Journal(path, {"spec": "a"}) as journal:
            journal.add({"x": 1})


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


def test_progress_is_drawn_on_a_terminal_and_nowhere_else() -> None:
    for stream, drawn in ((Terminal(), True), (io.StringIO(), False)):
        progress = Progress("checking", 4, stream)
        progress.step("1 thrown out")
        progress.step(count=3)
        progress.end()
        text = stream.getvalue()
        assert ("checking [########################] 4 of 4" in text) is drawn
        assert ("checking [######                  ] 1 of 4  1 thrown out" in text) is drawn
        assert (text == "") is not drawn
        assert progress.done == 4
