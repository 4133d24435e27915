"""A worker process under a watchdog: a kernel that hangs or faults takes its worker along, and nobody else.

Worker and watcher exchange JSON, a message a line. The worker says what it is about to run (`at`); one that
says nothing for too long is killed, and what it said last is to blame. A new worker goes on without that.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any

Message = dict[str, Any]

LONGEST_EXIT = 30.0
"""Seconds that the driver may take to tear down the context of a killed worker."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A worker that is no more: what it was at, and why."""

    at: str
    why: str
    hung: bool


class Worker:
    """A process that answers requests. It is started with the first one, and anew after it was lost.

    One process for many kernels, not one each: to set up CUDA and torch takes longer than to measure one.
    """

    def __init__(self, command: Sequence[str], environment: dict[str, str] | None = None) -> None:
        self._command = list(command)
        self._environment = environment
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader: threading.Thread | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def ask(self, request: Message, silence: float, first: float | None = None) -> Iterator[Message | Lost]:
        """The worker's messages up to the one with `done`, or up to Lost.

        `silence` is how many seconds may pass between messages, `first` before the first one of a new worker,
        which has to set itself up. To be read to its end before the next request.
        """
        patience = silence
        if self._process is None:
            self._start()
            patience = silence if first is None else first
        process = self._process
        if process is None or process.stdin is None:
            raise RuntimeError("the worker has no input")
        at = ""
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        while True:
            try:
                line = self._lines.get(timeout=patience)
            except queue.Empty:
                self._kill()
                yield Lost(at, f"nothing is heard for {patience:g} s", hung=True)
                return
            patience = silence
            if line is None:
                code = process.wait()
                self._forget()
                yield Lost(at, _ended(code), hung=False)
                return
            message = _message(line)
            at = message.get("at", at)
            yield message
            if message.get("done"):
                return

    def stop(self) -> None:
        """End the worker, if there is one."""
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            with suppress(BrokenPipeError):
                process.stdin.close()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._kill()
        else:
            self._forget()

    def _start(self) -> None:
        self._lines = queue.Queue()
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self._environment,
            start_new_session=True,
        )
        arguments = (self._process.stdout, self._lines)
        self._reader = threading.Thread(target=_read, args=arguments, daemon=True)
        self._reader.start()

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            # A process whose kernel hangs may take a while to go, and the next one need not wait for ever.
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=LONGEST_EXIT)
        self._forget()

    def _forget(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()
        if self._reader is not None:
            self._reader.join(timeout=5)


def serve(answer: Callable[[Message, Callable[[Message], None]], None]) -> None:
    """Be a worker: give each request of standard input to `answer`, with a way to say something.

    What else is printed goes to standard error, so that no library disturbs the messages.
    """
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)

        def say(message: Message) -> None:
            out.write(json.dumps(message) + "\n")
            out.flush()

        for line in sys.stdin:
            answer(json.loads(line), say)
            say({"done": True})


def _read(stream: IO[str] | None, lines: queue.Queue[str | None]) -> None:
    if stream is not None:
        with stream, suppress(ValueError, OSError):
            for line in stream:
                lines.put(line)
    lines.put(None)


def _message(line: str) -> Message:
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    return message if isinstance(message, dict) else {"text": line.rstrip("\n")}


def _ended(code: int) -> str:
    return f"the process is killed by signal {-code}" if code < 0 else f"the process ends with code {code}"
