"""What the tests marked `gpu` and the sanitizers find, for `benchmarks/results/gpu_tests.json`.

    python benchmarks/gpu_tests.py make --folder F            # where the compiler is
    cd F/tree && python benchmarks/gpu_tests.py run --folder .. --out FILE     # where the GPU is

`make` copies the last commit into F/tree, so that nothing else is run than what the result names, and builds
there what the tests ask for and what goes under the sanitizers. `run` needs PyTorch, pytest and cuda-bindings
alone; `benchmarks/gpu_tests_on_gpu.py` says what it does.
"""

from __future__ import annotations

import argparse
import os
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import gpu_tests_on_gpu
from benchmarks.gpu_tests_on_gpu import ASKING
from tests import ready
from tests.ready import ROOT

TRAVELS = ("benchmarks", "codegen", "specs", "tests", "tsc", "pyproject.toml")

# A few rounds of every ring, ragged ends, and more tiles than CTAs where that is still small.
GEMM = {"m": 300, "n": 520, "k": 784}
NOTHING = {"m": 100, "n": 264, "k": 0}
SIZES: dict[str, list[dict[str, int]]] = {
    "copy/bulk": [{"n": 100_003}],
    "copy/cp_async": [{"m": 37, "n": 1000}],
    "copy/fork": [{"m": 400, "n": 2056}],
    "copy/grid_stride": [{"n": 4099}],
    "copy/groups": [],
    "copy/merge": [{"m": 400, "n": 2056}],
    "copy/pdl_chain_first": [{"rows": 133}],
    "copy/pdl_chain_second": [{"rows": 133}],
    "copy/skip_tiles": [{"room": 1000}],
    "copy/tma": [{"m": 37, "n": 4104}],
    "copy/tma_persistent": [{"m": 1100, "n": 2056}],
    "copy/varlen": [],
    "gemm/hopper_batched": [{"batch": 2, **GEMM}, {"batch": 2, **NOTHING}],
    "gemm/hopper_fp8_blockwise": [
        {**GEMM, "k_blocks": 7, "n_blocks": 5},
        {**NOTHING, "k_blocks": 0, "n_blocks": 3},
    ],
    "gemm/hopper_splitk": [{**GEMM, "k": 1552}, NOTHING],
    "gemm/hopper_splitk_cluster": [{**GEMM, "k": 1552}, NOTHING],
    "gemm/hopper_splitk_reduce": [{**GEMM, "k": 1552}, NOTHING],
    "norm/rmsnorm": [{"rows": 300}],
    "norm/rmsnorm_persistent": [{"rows": 600}],
}
"""What a spec runs with under a sanitizer: where there is none, the cases of `verify`; else GEMMs as here."""


def hopper_specs() -> list[str]:
    """Return every spec that runs on Hopper."""
    from tests.emit.kernels import document, program_of

    found = []
    for path in sorted((ROOT / "specs").rglob("*.tsc.yaml")):
        program = program_of(document(path.read_text(encoding="utf-8"), path.name))
        if "sm_90a" in program.targets:
            found.append(path.relative_to(ROOT / "specs").as_posix().removesuffix(".tsc.yaml"))
    return found


def plan_text(spec: str) -> str:
    """Return how `tsc.verify` runs a spec, with sizes for a sanitizer."""
    from dataclasses import replace

    from tests.emit.kernels import document, program_of
    from tsc.verify.choose import chosen
    from tsc.verify.plan import to_json
    from tsc.verify.planning import plan_of

    path = ROOT / "specs" / f"{spec}.tsc.yaml"
    program = program_of(document(path.read_text(encoding="utf-8"), path.name))
    plan = plan_of(program.spec, path.name, path.parent)
    sizes = SIZES.get(spec, [GEMM, NOTHING])
    choices = [",".join(f"{name}={value}" for name, value in each.items()) for each in sizes]
    return to_json(replace(plan, cases=tuple(case for _, case in chosen(plan, choices))))


def asked_for(folder: Path) -> dict[str, ready.Recipe]:
    """Return every cubin that the tests ask for, and how it is made."""
    record = folder / "asked.pickle"
    options = ["-q", "--tb=no", "-rN", "-p", "no:cacheprovider", "-p", "benchmarks.gpu_tests_record"]
    env = os.environ | {"PYTHONPATH": str(ROOT), "TSC_RECORD": str(record), "TSC_REQUIRE_GPU": "1"}
    command = [sys.executable, "-m", "pytest", *options, *ASKING]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    if done.returncode not in (0, 1):  # tests may fail here
        raise SystemExit(done.stdout + done.stderr)
    asked, broken = pickle.loads(record.read_bytes())
    record.unlink()
    # A kernel of the generator's is the one thing that its test asks for, and comes first.
    early = [line for line in broken if not line.startswith("tests/emit/")]
    if early:
        raise SystemExit("these tests end before all is known that they ask for:\n" + "\n".join(early))
    found: dict[str, ready.Recipe] = asked
    return found


def for_sanitizers() -> dict[str, ready.Recipe]:
    """Return every kernel of the generator's tests and every spec, with threads that arrive by themselves."""
    found: dict[str, ready.Recipe] = {}
    for path in sorted((ROOT / "tests/emit/cases").glob("*.tsc.yaml")):
        name = path.name.removesuffix(".tsc.yaml")
        found[f"sanitize/cases/{name}"] = ready.Text(path.read_text("utf-8"), path.name, sanitize=True)
    for spec in hopper_specs():
        path = ROOT / "specs" / f"{spec}.tsc.yaml"
        text = ready.Text(path.read_text("utf-8"), path.name, sanitize=True)
        found[f"sanitize/specs/{spec.replace('/', '_')}"] = text
    return found


def _built(job: tuple[str, ready.Recipe]) -> tuple[str, bytes | str]:
    name, recipe = job
    try:
        return name, recipe.build()
    except Exception as error:
        return name, f"{type(error).__name__}: {error}"


def build(folder: Path) -> int:
    """Build all into a folder; from the tree that is run later. Returns how many cannot be built."""
    recipes = asked_for(folder) | for_sanitizers()
    failed = 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for name, made in pool.map(_built, recipes.items()):
            path = folder / f"{name}.cubin"
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(made, str):
                print(f"{name}: {made}", file=sys.stderr)
                failed += 1
            else:
                path.write_bytes(made)
    for spec in hopper_specs():
        (folder / f"sanitize/specs/{spec.replace('/', '_')}.plan.json").write_text(plan_text(spec))
    print(f"{len(recipes) - failed} of {len(recipes)} kernels in {folder}")
    return failed


def make(folder: Path) -> int:
    """Copy the last commit and build it there."""
    if folder.exists():
        shutil.rmtree(folder)
    tree = folder / "tree"
    tree.mkdir(parents=True)
    git = ["git", "-C", str(ROOT)]
    archive = subprocess.run([*git, "archive", "HEAD", *TRAVELS], check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(tree)], input=archive, check=True)
    commit = subprocess.run(
        [*git, "rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True
    )
    (folder / "commit").write_text(commit.stdout)
    command = [sys.executable, str(tree / "benchmarks/gpu_tests.py"), "build", "--folder", str(folder)]
    done = subprocess.run(command, cwd=tree, env=os.environ | {"PYTHONPATH": str(tree)}, check=False)
    return done.returncode


def main() -> int:
    """Run one of the stages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "stage", choices=("make", "build", "run"), help="`build` is what `make` does in F/tree"
    )
    parser.add_argument("--folder", type=Path, required=True)
    gpu_tests_on_gpu.add_options(parser)
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    if options.stage == "run":
        return gpu_tests_on_gpu.run(options)
    return min(1, make(options.folder) if options.stage == "make" else build(options.folder))


if __name__ == "__main__":
    sys.exit(main())
