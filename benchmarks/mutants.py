"""Judges mutants of the shipped schedules by `tsc check` and by the GPU, and compares the two.

    python benchmarks/mutants.py make  --folder F      # writes the specs, and builds all with checking off
    python benchmarks/mutants.py judge --folder F      # what the check says of each
    python benchmarks/mutants_on_gpu.py --folder F --out F/runs.json          # on a machine with a GPU
    python benchmarks/mutants.py merge --folder F --commit HASH --judged HASH # writes results/mutants.json
    python benchmarks/mutants.py table                                        # prints it as Markdown

`--spec` makes those of one spec; `merge --add` keeps what the result has of the others.
Nothing that the check proved may hang or come out wrong. To look for such a mutant further afield,

    python benchmarks/mutants.py hunt --folder F --seed 1 --pairs 400

writes so many mutants of two changes of each spec, and builds those that the check proves.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from itertools import repeat
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.mutate import Mutant, mutants
from benchmarks.mutate_groups import FORK, MERGE

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).parent / "results" / "mutants.json"
Values = dict[tuple[str | int, ...], tuple[Any, ...]]

SPECS: dict[str, tuple[Values, int, int]] = {
    "copy/tma": (
        {
            ("constants", "STAGES"): (1, 2, 8, 9, 13),
            ("constants", "STORES"): (0, 1, 11, 12, 13),
            ("tasks", "load", "warps"): (2, 4),
            ("tasks", "store", "warps"): (2, 4),
            ("tasks", "load", "replicas"): (2,),
            ("tasks", "store", "replicas"): (2,),
            ("resources", "ring", "released_by"): ("one",),
            ("resources", "ring", "interleave"): (2,),
            ("resources", "tiles", "policy"): ("static",),
        },
        66,
        14,
    ),
    "copy/bulk": (
        {
            ("constants", "STAGES"): (1, 8, 9),
            ("constants", "STORES"): (0, 16, 17),
            ("tasks", "load", "warps"): (2,),
            ("tasks", "store", "warps"): (2,),
            ("tasks", "store", "replicas"): (2,),
            ("launch", "grid"): (["sms"], ["sms * 2"]),
        },
        26,
        6,
    ),
    "copy/cp_async": (
        {
            ("constants", "STAGES"): (1, 2, 3),
            ("tasks", "load", "warps"): (1, 2, 8),
            # One warp would not cover the columns that its coordinates are made for.
            ("tasks", "store", "warps"): (16, 2, 8),
            ("tasks", "load", "replicas"): (2,),
            ("resources", "tiles", "policy"): ("static",),
        },
        26,
        6,
    ),
    "copy/grid_stride": ({("tasks", "copy", "warps"): (1, 4), ("constants", "VEC"): (1, 2)}, 6, 2),
    "norm/rmsnorm": (
        {
            ("constants", "STAGES"): (1, 3, 4),
            ("constants", "OUT_STAGES"): (1, 3, 4),
            ("constants", "WARPS"): (1, 2, 8),
            ("tasks", "load", "warps"): (2, 4),
            ("tasks", "load", "replicas"): (2,),
            ("resources", "xs", "released_by"): ("one",),
            ("resources", "xs", "interleave"): (2,),
            ("launch", "grid"): (["sms"], ["sms * 6"]),
            ("launch", "ctas_per_sm"): (1, 2),
        },
        66,
        14,
    ),
    "copy/merge": (MERGE, 110, 12),
    "copy/fork": (FORK, 110, 12),
}
"""Each spec: values that are tried for its settings, how many mutants of one change, and how many of two."""

RIGHT, FAILED = ("right",), ("wrong", "hang", "launch error")
OUTCOMES = (*RIGHT, *FAILED, "not buildable")


def spec_path(spec: str) -> Path:
    """Return where a shipped spec stands."""
    return ROOT / "specs" / f"{spec}.tsc.yaml"


def every_mutant(specs: Iterable[str] = tuple(SPECS)) -> Iterator[Mutant]:
    """Yield all mutants; the same in every run, as long as the specs are."""
    for spec in specs:
        values, most, pairs = SPECS[spec]
        yield from mutants(spec, spec_path(spec).read_text(encoding="utf-8"), values, most, pairs)


def compiled(name: str, text: str) -> tuple[bytes | None, str]:
    """Return the cubin of a spec whatever its check says, or none and the reason why it cannot be built."""
    from tsc.emit import NotGenerated, emit
    from tsc.program.resolve import resolve
    from tsc.source import parse
    from tsc.spec.load import to_spec
    from tsc.toolchain.build import compile_source
    from tsc.toolchain.cache import default_cache
    from tsc.toolchain.errors import CompileFailed

    document = parse(text, f"{name}.tsc.yaml", "yaml").document
    spec, mistakes = to_spec(document) if document is not None else (None, ())
    if document is None or spec is None:
        return None, "; ".join(finding.message for finding in mistakes) or "no document"
    program = resolve(spec, document.name, ROOT)
    try:
        source = emit(program, document=document)
        built = compile_source(source, {}, program.targets[0], cache=default_cache())
    except NotGenerated as error:
        return None, str(error)
    except CompileFailed as error:
        first = error.diagnostics[0].message if error.diagnostics else error
        return None, f"the compiler refuses it: {first}"
    except Exception as error:  # a generator that trusts the check may stumble over what the check refuses
        return None, f"the generator fails: {type(error).__name__}: {error}"
    return built.cubin, ""


def _build(job: tuple[str, str, str]) -> tuple[str, str]:
    name, text, target = job
    cubin, reason = compiled(name, text)
    if cubin is not None:
        Path(target).write_bytes(cubin)
    return name, reason


def proved_pairs(spec: str, seed: int, pairs: int) -> list[Mutant]:
    """Return the mutants of two changes of a spec that the check proves."""
    made = mutants(spec, spec_path(spec).read_text(encoding="utf-8"), SPECS[spec][0], 0, pairs, seed)
    return [mutant for mutant in made if verdict_of(mutant.name, mutant.text)["proved"]]


def make(folder: Path, workers: int, made: list[Mutant]) -> None:
    """Write and build mutants, and the shipped specs beside them as controls."""
    os.nice(5)
    (folder / "specs").mkdir(parents=True, exist_ok=True)
    (folder / "cubins").mkdir(exist_ok=True)
    for stale in (*(folder / "specs").iterdir(), *(folder / "cubins").iterdir()):
        stale.unlink()
    texts = {mutant.name: mutant.text for mutant in made}
    specs = sorted({mutant.spec for mutant in made})
    texts |= {f"{spec.replace('/', '_')}-shipped": spec_path(spec).read_text("utf-8") for spec in specs}
    for name, text in texts.items():
        (folder / "specs" / f"{name}.tsc.yaml").write_text(text, encoding="utf-8")
    jobs = [(name, text, str(folder / "cubins" / f"{name}.cubin")) for name, text in texts.items()]
    with ProcessPoolExecutor(workers) as pool:
        reasons = dict(pool.map(_build, jobs, chunksize=4))
    listed = [{**asdict(m), "reason": reasons[m.name]} for m in made]
    for entry in listed:
        del entry["text"]
    (folder / "mutants.json").write_text(json.dumps(listed, indent=1) + "\n")
    print(f"{len(made)} mutants, {sum(not r for r in reasons.values()) - len(specs)} built")


def verdict_of(name: str, text: str) -> dict[str, Any]:
    """Return what the check says of a text: whether it finds no error, and the rules that do."""
    from tsc.check import check_reading
    from tsc.diagnostics.model import Severity
    from tsc.source import parse
    from tsc.spec.overrides import Overrides

    report = check_reading(parse(text, f"{name}.tsc.yaml", "yaml"), Overrides())
    errors = {f"{it.code} {it.name}" for it in report.found if it.severity is Severity.ERROR}
    warnings = {f"{it.code} {it.name}" for it in report.found if it.severity is Severity.WARNING}
    return {"proved": not errors, "rules": sorted(errors), "warnings": sorted(warnings)}


def judge(folder: Path) -> None:
    """Let the check judge every mutant."""
    verdicts = {}
    for path in sorted((folder / "specs").glob("*.tsc.yaml")):
        name = path.name.removesuffix(".tsc.yaml")
        verdicts[name] = verdict_of(name, path.read_text(encoding="utf-8"))
    (folder / "verdicts.json").write_text(json.dumps(verdicts, indent=1) + "\n")
    print(Counter("proved" if v["proved"] else "rejected" for v in verdicts.values()))


def merged(folder: Path, commit: str, judged: str) -> dict[str, Any]:
    """Return the result: each mutant with its verdict and its run, and the counts.

    It was built and run at `commit`, and checked at `judged`.
    """
    listed = json.loads((folder / "mutants.json").read_text())
    verdicts = json.loads((folder / "verdicts.json").read_text())
    runs = json.loads((folder / "runs.json").read_text())
    rows = []
    for entry in listed:
        run = runs["runs"].get(entry["name"], {"outcome": "not buildable", "detail": entry["reason"]})
        rows.append(
            {
                **{key: entry[key] for key in ("name", "spec", "sort", "words")},
                "proved": verdicts[entry["name"]]["proved"],
                "rules": verdicts[entry["name"]]["rules"],
                "outcome": run["outcome"],
                "detail": run["detail"],
            }
        )
    controls = {name: run["outcome"] for name, run in runs["runs"].items() if "-shipped" in name}
    return {
        **runs["conditions"],
        "commit": commit,
        "judged": judged,
        "controls": controls,
        "counts": {group: confusion(of(rows, group)) for group in ("copy", "norm")},
        "mutants": rows,
    }


def joined(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return a result with what was found of other specs later; the counts are still to be made."""
    fresh = {row["spec"] for row in new["mutants"]}
    parts = {"controls": {**old["controls"], **new["controls"]}}
    for part in ("mutants", "apart"):
        if part in new:
            parts[part] = [row for row in old[part] if row["spec"] not in fresh] + new[part]
    later = [it for it in old.get("later", ()) if not fresh & set(it["specs"])]
    conditions = {key: fact for key, fact in new.items() if key not in (*parts, "counts")}
    return {**old, **parts, "later": [*later, {"specs": sorted(fresh), **conditions}]}


def hunted(folder: Path) -> dict[str, int]:
    """Count the outcomes of a hunt's mutants that are proved."""
    verdicts = json.loads((folder / "verdicts.json").read_text())
    runs = json.loads((folder / "runs.json").read_text())["runs"]
    names = [entry["name"] for entry in json.loads((folder / "mutants.json").read_text())]
    return dict(Counter(runs[name]["outcome"] for name in names if verdicts[name]["proved"]))


def of(rows: Iterable[dict[str, Any]], group: str) -> list[dict[str, Any]]:
    """Return the mutants of the specs of one folder."""
    return [row for row in rows if row["spec"].startswith(f"{group}/")]


def confusion(rows: list[dict[str, Any]]) -> dict[str, int]:
    """Count the mutants by verdict and outcome, as `proved, right` and so on."""
    counts = {f"{verdict}, {outcome}": 0 for verdict in ("proved", "rejected") for outcome in OUTCOMES}
    for row in rows:
        counts[f"{'proved' if row['proved'] else 'rejected'}, {row['outcome']}"] += 1
    return counts


def false_proofs(result: dict[str, Any]) -> list[str]:
    """Return the mutants that were proved and failed: there may be none."""
    return [row["name"] for row in result["mutants"] if row["proved"] and row["outcome"] in FAILED]


def failing_share(counts: dict[str, int]) -> float:
    """Return which part of the rejected mutants that ran did fail."""
    failed = sum(counts[f"rejected, {outcome}"] for outcome in FAILED)
    return failed / max(1, failed + sum(counts[f"rejected, {outcome}"] for outcome in RIGHT))


def result() -> dict[str, Any]:
    """Return the measured result."""
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return found


def said_later(facts: dict[str, Any]) -> str:
    """Return a sentence on mutants that were added to a result."""
    names = " and ".join(f"`{spec}`" for spec in facts["specs"])
    return (
        f"Those of {names} were built at {facts['commit']} and run on {facts['date']}; checked at "
        f"{facts['judged']}."
    )


def table() -> str:
    """Return the confusion table in Markdown, with the conditions before it."""
    facts = result()
    head = "| specs | mutants | verdict | right | wrong | hang | launch error | not buildable |"
    lines = [
        f"Built at commit {facts['commit']} and run on {facts['date']} on one {facts['device']}, driver "
        f"{facts['driver']}; checked at commit {facts['judged']}. {facts['method'].capitalize()}.",
        "",
        head,
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for group, counts in facts["counts"].items():
        for verdict in ("proved", "rejected"):
            cells = [counts[f"{verdict}, {outcome}"] for outcome in OUTCOMES]
            lines.append(f"| {group} | {sum(cells)} | {verdict} | {' | '.join(map(str, cells))} |")
    lines += ["", *map(said_later, facts.get("later", ()))]
    shares = (f"{failing_share(counts):.0%} of {group}" for group, counts in facts["counts"].items())
    lines.append(f"Of the rejected mutants that could be built and run, {' and '.join(shares)} failed.")
    if "further" in facts:
        further = ", ".join(f"{count} came out {outcome}" for outcome, count in facts["further"].items())
        lines.append(f"Of further mutants of two changes that were proved {further}.")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run one of the stages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("stage", choices=("make", "judge", "merge", "table", "hunt"))
    parser.add_argument("--folder", type=Path, default=Path("mutants"))
    parser.add_argument("--commit", default="unknown", help="what the mutants were built at")
    parser.add_argument("--judged", default="unknown", help="what they were checked at")
    parser.add_argument("--hunted", type=Path, help="a folder of a hunt, to be counted too")
    parser.add_argument("--add", action="store_true", help="keep the result of other specs")
    parser.add_argument("--spec", action="append", choices=tuple(SPECS), help="only mutants of these")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    specs = options.spec or tuple(SPECS)
    match options.stage:
        case "make":
            make(options.folder, options.workers, list(every_mutant(specs)))
        case "hunt":
            with ProcessPoolExecutor(options.workers) as pool:
                found = pool.map(proved_pairs, specs, repeat(options.seed), repeat(options.pairs))
                make(options.folder, options.workers, [mutant for group in found for mutant in group])
        case "judge":
            judge(options.folder)
        case "merge":
            facts = merged(options.folder, options.commit, options.judged)
            if options.add:
                facts = joined(result(), facts)
                facts["counts"] = {group: confusion(of(facts["mutants"], group)) for group in facts["counts"]}
            if options.hunted:
                facts["further"] = hunted(options.hunted)
            RESULTS.write_text(json.dumps(facts, indent=1) + "\n")
            for name in false_proofs(facts):
                print(f"proved and failed: {name}", file=sys.stderr)
        case "table":
            print(table(), end="")


if __name__ == "__main__":
    main()
