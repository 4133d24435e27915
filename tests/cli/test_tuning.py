"""`tsc tune`, `tsc bench` and `tsc build --tuned` from outside, where there is no GPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_build import tsc
from tsc.artifact.inspect import inspect
from tsc.artifact.tuned import Entry, Table, read_table, to_json

pytest.importorskip("cuda.bindings.nvrtc")

SPEC = """\
tsc: 1
kernel: fill
target: sm_90a
constants: {THREADS: 128, VALUES: 1}
params:
  y: {dtype: f32, shape: [n]}
launch: {grid: ["cdiv(n, THREADS * VALUES)"]}
resources:
  room: {kind: smem, dtype: f32, shape: [VALUES * 16384]}
work:
  put_one:
    writes: [y, room]
    cuda: |
      room(task.thread) = 1.0f;
      for (int v = 0; v < VALUES; ++v) {
        const int i = (blockIdx.x * VALUES + v) * THREADS + task.thread;
        if (i < n) y(i) = 1.0f;
      }
tasks:
  fill: {warps: THREADS // 32, schedule: [{do: put_one}]}
tune:
  try: {THREADS: [64, 128], VALUES: [1, 2, 4]}
  where: [THREADS * VALUES >= 128]
  cases: [{n: 1000}, {n: 1000000}]
"""

OF_ANOTHER_KERNEL = "tsc: the kernel takes no `m`; its sizes and numbers are `n`\n"
TOO_MUCH = "TSC201 too-much-shared-memory: needs 262,144 of 232,448 bytes of shared memory: room 262,144"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fill.tsc.yaml").write_text(SPEC)
    return tmp_path


def table(folder: Path, sha256: str = "other") -> Path:
    entries = (
        Entry({"n": 1000}, {"THREADS": 64, "VALUES": 2}, "H200", 2.0, 1.1),
        Entry({"n": 1_000_000}, {"VALUES": 2}, "H200", 9.0, 1.2),
        Entry({"n": 2_000_000}, {"VALUES": 2}, "H200", 9.0, 1.2),
    )
    path = folder / "t.tuned.json"
    path.write_text(to_json(Table("fill.tsc.yaml", sha256, "fill", entries)))
    return path


def constants(cubin: Path) -> dict[str, object]:
    return dict(inspect(cubin.read_bytes()).manifest.constants)


class TestTune:
    def test_what_fits_is_compiled_and_what_does_not_is_counted(self, folder: Path) -> None:
        done = tsc("tune", "fill.tsc.yaml", "--compile-only", "-j", "1", "--why", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == [
            "thrown out by TSC201 too-much-shared-memory: 2",
            "thrown out by tune.where: 1",
            "  THREADS=64 VALUES=1: tune.where: `THREADS * VALUES >= 128` is false",
            *(f"  THREADS={threads} VALUES=4: {TOO_MUCH}" for threads in (64, 128)),
            "fill.tuned: 4 points and 2 cases",
            "`python -m tsc.tune.measure fill.tuned` measures them where there is a GPU",
        ]
        space = json.loads((folder / "fill.tuned" / "space.json").read_text())
        assert space["points"] == {
            "default": {},
            "p0001": {"THREADS": 64, "VALUES": 2},
            "p0003": {"THREADS": 128, "VALUES": 1},
            "p0004": {"THREADS": 128, "VALUES": 2},
        }
        cubin = folder / "fill.tuned" / "points" / "p0001.cubin"
        assert constants(cubin) == {"THREADS": 64, "VALUES": 2}

    def test_one_case_is_no_cases(self, folder: Path) -> None:
        call = ("tune", "fill.tsc.yaml", "--compile-only", "-j", "1", "--case", "n=1000")
        assert "fill.tuned: 4 points and 1 case\n" in tsc(*call, cwd=folder).stdout

    def test_a_second_call_compiles_nothing_and_a_changed_spec_everything(self, folder: Path) -> None:
        call = ("tune", "fill.tsc.yaml", "--compile-only", "-j", "1", "-o", "out")
        tsc(*call, cwd=folder)
        journal = folder / "out" / "compile.jsonl"
        before = journal.read_text()
        cubin = folder / "out" / "points" / "p0003.cubin"
        made = cubin.stat().st_mtime_ns
        done = tsc(*call, cwd=folder)
        assert done.stderr == "going on where the journal ends\n"
        assert (journal.read_text(), cubin.stat().st_mtime_ns) == (before, made)
        # A record less and a cubin less are made good.
        journal.write_text("".join(before.splitlines(keepends=True)[:-1]))
        (folder / "out" / "points" / "default.cubin").unlink()
        tsc(*call, cwd=folder)
        assert {*journal.read_text().splitlines()} == {*before.splitlines()}
        assert (folder / "out" / "points" / "default.cubin").is_file()
        (folder / "fill.tsc.yaml").write_text(SPEC.replace("1.0f", "2.0f"))
        done = tsc(*call, cwd=folder)
        assert done.stderr == ""
        assert cubin.stat().st_mtime_ns > made

    @pytest.mark.parametrize(
        ("change", "code", "sentence"),
        [
            (("  try: {THREADS: [64, 128], VALUES: [1, 2, 4]}\n", ""), 1, "the spec has no `tune.try`"),
            (("  cases: [{n: 1000}, {n: 1000000}]\n", ""), 2, "the spec has no `tune.cases`"),
            (("VALUES: 1}", "VALUES: 4}"), 1, "needs 262,144 of 232,448"),
        ],
    )
    def test_a_space_that_is_none_is_one_sentence(
        self, folder: Path, change: tuple[str, str], code: int, sentence: str
    ) -> None:
        (folder / "fill.tsc.yaml").write_text(SPEC.replace(*change))
        done = tsc("tune", "fill.tsc.yaml", "--compile-only", "-j", "1", cwd=folder)
        assert done.returncode == code
        assert sentence in done.stderr

    def test_without_a_gpu_it_says_what_can_be_done(self, folder: Path) -> None:
        done = tsc("tune", "fill.tsc.yaml", cwd=folder, CUDA_VISIBLE_DEVICES="")
        assert done.returncode == 3
        assert done.stderr.rstrip().endswith("`--compile-only` makes what a machine with a GPU needs")

    @pytest.mark.parametrize(
        ("case", "sentence"),
        [
            ("n=8,m=8", OF_ANOTHER_KERNEL),
            ("THREADS=64", "tsc: the case `THREADS=64` gives no value to `n`\n"),
        ],
    )
    def test_a_case_that_cannot_run_is_refused_before_the_build(
        self, folder: Path, case: str, sentence: str
    ) -> None:
        done = tsc("tune", "fill.tsc.yaml", "--compile-only", "--case", case, cwd=folder)
        assert (done.returncode, done.stderr) == (2, sentence)
        assert not (folder / "fill.tuned").exists()


class TestBench:
    def test_without_a_gpu_it_says_what_can_be_done(self, folder: Path) -> None:
        done = tsc("bench", "fill.tsc.yaml", "-D", "n=1000", cwd=folder, CUDA_VISIBLE_DEVICES="")
        assert done.returncode == 3
        assert "`python -m tsc.bench.run` times a cubin on a machine that has no compiler" in done.stderr

    def test_a_size_of_another_kernel_is_refused(self, folder: Path) -> None:
        done = tsc("bench", "fill.tsc.yaml", "-D", "m=8", cwd=folder)
        assert (done.returncode, done.stderr) == (2, OF_ANOTHER_KERNEL)

    def test_a_wrong_size_is_refused(self, folder: Path) -> None:
        done = tsc("bench", "fill.tsc.yaml", "-D", "n=many", cwd=folder)
        assert done.returncode == 2
        assert "n=many" in done.stderr

    @pytest.mark.parametrize(
        ("call", "sentence"),
        [
            (
                ("fill.tsc.yaml", "--against", "cubals"),
                "`--against cubals` names no file; did you mean `cublas`?",
            ),
            (
                ("fill.tsc.yaml", "--against", "nope"),
                "`--against nope` names no file; there are `cublas`, `torch` and `memcpy`, and the files "
                "of cubins",
            ),
            (("fill.tsc.yaml", "--cubin", "none.cubin"), "`--cubin none.cubin` names no file"),
            (
                ("k.cubin",),
                "`k.cubin` is a cubin: write `tsc bench SPEC --cubin k.cubin`, or "
                "`python -m tsc.bench.run k.cubin`",
            ),
        ],
    )
    def test_a_wrong_call_is_refused_where_there_is_no_gpu(
        self, folder: Path, call: tuple[str, ...], sentence: str
    ) -> None:
        done = tsc("bench", *call, cwd=folder, CUDA_VISIBLE_DEVICES="")
        assert (done.returncode, done.stderr) == (2, f"tsc: {sentence}\n")


class TestTuned:
    def test_the_nearest_case_is_built_and_sizes_stay_open(self, folder: Path) -> None:
        call = ("build", "fill.tsc.yaml", "--tuned", str(table(folder)), "-o", "k.cubin")
        done = tsc(*call, "--case", "n=3000", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "tuned for n=1000: THREADS=64 VALUES=2" in done.stderr
        assert "is of another text of the spec" in done.stderr
        assert constants(folder / "k.cubin") == {"THREADS": 64, "VALUES": 2}
        tsc(*call, "-D", "n=900000", cwd=folder)
        assert constants(folder / "k.cubin") == {"THREADS": 128, "VALUES": 2, "n": 900_000}

    def test_a_case_of_another_kernel_is_refused(self, folder: Path) -> None:
        done = tsc("build", "fill.tsc.yaml", "--tuned", str(table(folder)), "--case", "m=8", cwd=folder)
        assert (done.returncode, done.stderr.splitlines(keepends=True)[-1]) == (2, OF_ANOTHER_KERNEL)

    def test_what_the_call_sets_counts_more_than_the_table(self, folder: Path) -> None:
        call = ("build", "fill.tsc.yaml", "--tuned", str(table(folder)), "-o", "k.cubin", "--case", "n=1")
        tsc(*call, "-D", "VALUES=1", cwd=folder)
        assert constants(folder / "k.cubin") == {"THREADS": 64, "VALUES": 1}

    def test_without_sizes_every_case_goes_into_a_folder(self, folder: Path) -> None:
        done = tsc("build", "fill.tsc.yaml", "--tuned", str(table(folder)), cwd=folder)
        assert done.stdout == "fill.tuned: 2 cubins for 3 cases; `tsc.load` takes the folder\n"
        made, _ = read_table(folder / "fill.tuned")
        assert [entry.cubin for entry in made.entries] == [
            "fill_n1000.cubin",
            "fill_n1000000.cubin",
            "fill_n1000000.cubin",
        ]
        assert constants(folder / "fill.tuned" / "fill_n1000.cubin") == {"THREADS": 64, "VALUES": 2}

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            (("--tuned", "gone.json"), "`gone.json` cannot be read: No such file or directory"),
            (("--case", "n=1"), "name one by `--tuned`"),
            (("--tuned", "t.tuned.json", "--emit", "cu"), "`--tuned` builds cubins, from a spec in a file"),
            (("--tuned", "t.tuned.json", "--case", "n"), "n"),
        ],
    )
    def test_a_wrong_call_is_one_sentence(
        self, folder: Path, options: tuple[str, ...], sentence: str
    ) -> None:
        table(folder)
        done = tsc("build", "fill.tsc.yaml", *options, cwd=folder)
        assert done.returncode == 2
        assert sentence in done.stderr

    def test_a_table_of_another_kernel_is_refused(self, folder: Path) -> None:
        path = table(folder)
        path.write_text(path.read_text().replace('"kernel": "fill"', '"kernel": "copy"'))
        done = tsc("build", "fill.tsc.yaml", "--tuned", str(path), cwd=folder)
        assert done.returncode == 2
        assert "is of the kernel `copy`, and the spec is `fill`" in done.stderr


def test_a_case_is_filled_from_the_cases_of_the_spec() -> None:
    from tsc.cli.cases import filled
    from tsc.spec.document import Spec, Tune, Verify

    verify = Verify.model_validate({"cases": [{"m": 1, "k": 2, "scale": 0.5}]})
    params = {"scale": None}
    own = Spec.model_construct(params=params, verify=verify, tune=None)
    assert filled({"m": 8}, own) == {"m": 8, "k": 2, "scale": 0.5}
    tune = Tune.model_validate({"try": {"A": [1]}, "cases": [{"m": 64, "n": 3}]})
    tuned = Spec.model_construct(params=params, verify=verify, tune=tune)
    assert filled({"m": 8}, tuned) == {"m": 8, "n": 3, "scale": 0.5}
    assert filled({"m": 8}, tuned, [{}]) == {"m": 8, "scale": 0.5}
