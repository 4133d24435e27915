"""Files are whole or not there."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tsc.toolchain import write
from tsc.toolchain.errors import WriteError
from tsc.toolchain.write import Output, write_file, write_outputs


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    target = tmp_path / "k.cubin"
    write_file(str(target), b"one")
    target.chmod(0o640)
    write_file(str(target), b"two")
    assert target.read_bytes() == b"two"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert names(tmp_path) == ["k.cubin"]


def test_a_new_file_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    write_file(str(tmp_path / "k.cubin"), b"one")
    assert (tmp_path / "k.cubin").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_file(str(tmp_path / "link"), b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_nothing_is_published_when_one_output_fails(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_bytes(b"old")
    outputs = [
        Output(str(tmp_path / "k.cu"), b"new"),
        Output(str(tmp_path / "k.ptx"), b"new"),
        Output(str(tmp_path / "none" / "k.cubin"), b"new"),
    ]
    with pytest.raises(WriteError) as error:
        write_outputs(outputs)
    assert str(error.value) == (
        f"`{tmp_path}/none/k.cubin` cannot be written: the folder `{tmp_path}/none` does not exist"
    )
    assert names(tmp_path) == ["k.cu"]
    assert (tmp_path / "k.cu").read_bytes() == b"old"


def test_a_folder_is_no_output(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match=r"cannot be written: it is a folder$"):
        write_file(str(tmp_path), b"new")
    assert names(tmp_path) == []


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WriteError, match=r"cannot be written: Not a directory$"):
        write_file(str(tmp_path / "file" / "k.cubin"), b"new")


def test_two_outputs_to_one_place_are_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("k")
    with pytest.raises(WriteError, match="two outputs go to"):
        write_outputs([Output(str(tmp_path / "k"), b"1"), Output(str(tmp_path / "link"), b"2")])
    with pytest.raises(WriteError, match="two outputs go to standard output"):
        write_outputs([Output("-", b"1"), Output("-", b"2")])
    assert names(tmp_path) == ["link"]


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, os.strerror(errno.EDQUOT)),
        (errno.EROFS, "the file system is read-only"),
        (errno.EACCES, "you may not write in"),
    ],
)
@pytest.mark.parametrize("call", ["write", "fsync", "open"])
def test_a_disk_that_refuses_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, reason: str, call: str
) -> None:
    def refuse(*arguments: object, **options: object) -> int:
        raise OSError(number, os.strerror(number))

    (tmp_path / "k.cubin").write_bytes(b"old")
    with monkeypatch.context() as patch:
        patch.setattr(write.os, call, refuse)
        with pytest.raises(WriteError, match=f"k.cubin` cannot be written: {reason}"):
            write_file(str(tmp_path / "k.cubin"), b"new")
    assert names(tmp_path) == ["k.cubin"]
    assert (tmp_path / "k.cubin").read_bytes() == b"old"


def test_a_file_larger_than_the_limit_leaves_nothing(tmp_path: Path) -> None:
    script = (
        "import resource, sys\n"
        "from tsc.toolchain.errors import WriteError\n"
        "from tsc.toolchain.write import write_file\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n    write_file(sys.argv[1], bytes(8192))\n"
        "except WriteError as error:\n    print(error)\n"
    )
    target = tmp_path / "k.cubin"
    done = subprocess.run(
        [sys.executable, "-c", script, str(target)], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"`{target}` cannot be written: File too large\n"
    assert names(tmp_path) == []


def test_an_interruption_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(write.os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_file(str(tmp_path / "k.cubin"), b"new")
    assert names(tmp_path) == []


def test_standard_output_and_devices_are_poured_into(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    write_outputs([Output("-", b"\x7fELF\0"), Output(str(tmp_path / "k"), b"1"), Output(os.devnull, b"2")])
    assert capfdbinary.readouterr().out == b"\x7fELF\0"
    assert names(tmp_path) == ["k"]
    assert not Path(os.devnull).is_file()


def test_a_full_device_is_one_sentence() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with pytest.raises(WriteError, match="`/dev/full` cannot be written: the disk is full"):
        write_file("/dev/full", b"x" * 100_000)


def test_a_name_that_no_file_can_have_is_one_sentence() -> None:
    with pytest.raises(WriteError, match="cannot be written: "):
        write_file("a\0b", b"")
