"""The watchdog against workers that answer, hang, fault and chatter; they are processes, without a GPU."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Iterator

import pytest

from tests.house.modules import ROOT
from tsc.bench.watch import Lost, Message, Worker

SCRIPT = """
import os, sys, time
sys.path.insert(0, {root!r})
from tsc.bench.watch import serve

def answer(request, say):
    for name in request["run"]:
        say({{"at": name}})
        print("chatter of a library")
        os.write(1, b"and of one in C\\n")
        if name == "hangs":
            time.sleep(600)
        if name == "faults":
            os._exit(3)
        if name == "killed":
            os.kill(os.getpid(), 9)
        say({{"result": name, "pid": os.getpid()}})

serve(answer)
"""


@pytest.fixture
def worker() -> Iterator[Worker]:
    with Worker([sys.executable, "-c", textwrap.dedent(SCRIPT.format(root=str(ROOT)))]) as made:
        yield made


def ask(worker: Worker, *run: str) -> list[Message | Lost]:
    return list(worker.ask({"run": run}, silence=1.0, first=20.0))


def results(messages: list[Message | Lost]) -> list[str]:
    return [it["result"] for it in messages if isinstance(it, dict) and "result" in it]


def test_one_process_answers_many_requests(worker: Worker) -> None:
    first, second = ask(worker, "a", "b"), ask(worker, "c")
    assert results(first) == ["a", "b"]
    assert results(second) == ["c"]
    pids = {it["pid"] for it in [*first, *second] if isinstance(it, dict) and "pid" in it}
    assert len(pids) == 1


def test_chatter_does_not_disturb(worker: Worker) -> None:
    messages = ask(worker, "a")
    assert [set(it) for it in messages if isinstance(it, dict)] == [{"at"}, {"result", "pid"}, {"done"}]


def test_a_kernel_that_hangs_is_killed_and_named(worker: Worker) -> None:
    begin = time.monotonic()
    *_, last = ask(worker, "a", "hangs", "b")
    assert time.monotonic() - begin < 25
    assert last == Lost("hangs", "nothing is heard for 1 s", hung=True)
    assert results(ask(worker, "b")) == ["b"]


@pytest.mark.parametrize(
    ("name", "why"),
    [("faults", "the process ends with code 3"), ("killed", "the process is killed by signal 9")],
)
def test_a_kernel_that_faults_takes_its_worker_alone(worker: Worker, name: str, why: str) -> None:
    *_, last = ask(worker, "a", name)
    assert last == Lost(name, why, hung=False)
    assert results(ask(worker, "b")) == ["b"]


def test_a_worker_that_cannot_start_is_lost_at_nothing() -> None:
    with Worker([sys.executable, "-c", "raise SystemExit(7)"]) as worker:
        (last,) = worker.ask({}, silence=5.0, first=20.0)
    assert last == Lost("", "the process ends with code 7", hung=False)
