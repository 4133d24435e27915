"""Judges mutants of the shipped GEMMs by `tsc check` and by the GPU, and compares the two.

    python benchmarks/mutants_gemm.py make  --folder F     # writes, checks and builds them
    python benchmarks/mutants_gemm_on_gpu.py --folder F --out F/runs.json     # on a machine with a GPU
    python benchmarks/mutants_gemm.py judge --folder F     # checks them again, by another tree
    python benchmarks/mutants_gemm.py merge --folder F     # writes results/mutants_gemm.json
    python benchmarks/mutants_gemm.py table                # prints it as Markdown

`--spec` makes those of one spec; `merge --add` keeps what the result has of the others.
Each mutant is built with checking off; what is proved a second time, with warps that sleep at random. Nothing
that the check proved may hang or come out wrong.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.mutants import (
    OUTCOMES,
    compiled,
    confusion,
    failing_share,
    false_proofs,
    joined,
    said_later,
    spec_path,
    verdict_of,
)
from benchmarks.mutate import Mutant, written
from benchmarks.mutate_gemm import base, delayed, mutants
from benchmarks.mutate_gemm_cluster import ELSEWHERE, SETTINGS

RESULTS = Path(__file__).parent / "results" / "mutants_gemm.json"
SLOW = "-slow"
"""Ends the name of a cubin whose warps sleep."""
CONTROL = "shipped"
APART = {
    "`wgmma: acc` with {accumulate:": "the first product of a tile adds to what nobody wrote in it",
    "accumulate where `loop > 0`": "the first product of a tile adds to what nobody wrote in it",
    "count_in": "who counts in, and when, is the author's to see to",
    "do: save": "what other CTAs read of a tensor is the author's to see to",
    "when: last": "who adds up other CTAs' parts is the author's to see to",
    "add up in split 0 too": "who adds up other CTAs' parts is the author's to see to",
    "count in before saving": "what other CTAs read of a tensor is the author's to see to",
    "count in twice": "how many count in is the author's to see to",
    ELSEWHERE: "which piece goes where, and what is done with it, is the author's to see to",
}
"""Mutants judged apart where they are proved: the page on the language says that these are trusted."""
Values = dict[tuple[str | int, ...], tuple[Any, ...]]

COMMON: Values = {
    ("constants", "STAGES"): (1, 2, 3, 8),
    ("constants", "OUT_STAGES"): (1, 2, 3, 4),
    ("constants", "PDL"): (True,),
    ("constants", "BK"): (32,),
    ("tasks", "load", "warps"): (2, 4),
    ("tasks", "load", "replicas"): (2,),
    ("launch", "cluster"): ({"m": 1, "n": 1}, {"n": 2}, {"m": 2, "n": 2}, {"m": 4}),
    ("resources", "ab", "interleave"): (2,),
    ("resources", "out", "over"): ("ab", {"of": "ab", "stage": 0}, "ab.a"),
}
"""Settings that every spec has."""

SPECS: dict[str, tuple[Values, int, int]] = {
    "gemm/hopper_bf16": (
        {
            **COMMON,
            ("constants", "DEPTH"): (0, 2, 3, 4),
            ("constants", "WARPS"): (4,),
            ("constants", "EN"): (16, 48, 64),
            ("constants", "BN"): (64, 80),
            ("resources", "ab", "released_by"): ("one",),
            ("resources", "tiles", "policy"): ("grid", "atomic"),
            ("resources", "acc", "split"): ("columns",),
        },
        220,
        40,
    ),
    "gemm/hopper_bf16_pingpong": (
        {
            **COMMON,
            ("resources", "ab", "released_by"): ("all",),
            ("resources", "out", "per"): ("load",),
            ("resources", "tiles", "policy"): ("grid", "atomic"),
            ("resources", "math_turn", "order"): (["math[1]", "math[0]"],),
            ("resources", "store_turn", "order"): (["math[1]", "math[0]"],),
            ("tasks", "math", "replicas"): (1, 3),
        },
        100,
        20,
    ),
    "gemm/hopper_splitk": (
        {
            **COMMON,
            ("constants", "SPLITS"): (1, 3, 8),
            ("constants", "WARPS"): (4,),
            ("resources", "ab", "released_by"): ("one",),
            ("resources", "tiles", "policy"): ("static",),
            ("workspace", "arrived", "zero"): ("never",),
        },
        50,
        10,
    ),
    "gemm/hopper_splitk_cluster": ({**COMMON, **SETTINGS}, 75, 12),
}
"""Each spec: values that are tried for its settings, how many mutants of one change, and how many of two."""


def every_mutant(specs: tuple[str, ...] = tuple(SPECS), seed: int = 0) -> Iterator[Mutant]:
    """Yield all mutants; the same in every run, as long as the specs are."""
    for spec in specs:
        values, most, pairs = SPECS[spec]
        yield from mutants(spec, spec_path(spec).read_text(encoding="utf-8"), values, most, pairs, seed)


def controls(specs: tuple[str, ...] = tuple(SPECS)) -> dict[str, str]:
    """Return the specs whose mutants these are, by name."""
    return {
        f"{spec.rpartition('/')[2]}-{CONTROL}": written(base(spec, spec_path(spec).read_text("utf-8")))
        for spec in specs
    }


def examined(job: tuple[str, str, str]) -> dict[str, Any]:
    """Check a text, build it into a folder, and return the verdict and why it could not be built."""
    name, text, folder = job
    try:
        found = verdict_of(name, text)
    except Exception as error:
        found = {
            "proved": False,
            "rules": [f"the check fails: {type(error).__name__}: {error}"],
            "warnings": [],
        }
    cubin, reason = compiled(name, text)
    if cubin is not None:
        (Path(folder) / f"{name}.cubin").write_bytes(cubin)
    return {"name": name, **found, "reason": reason}


def slowed(job: tuple[str, str, str]) -> tuple[str, str]:
    """Build a text whose warps sleep at random, and return why it could not be built."""
    name, text, folder = job
    cubin, reason = compiled(name, delayed(text))
    if cubin is not None:
        (Path(folder) / f"{name}{SLOW}.cubin").write_bytes(cubin)
    return name, reason


def commit_at_hand() -> str:
    """Return the commit that is checked out."""
    said = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return said.stdout.strip() or "unknown"


def _judged(job: tuple[str, str]) -> dict[str, Any]:
    return {"name": job[0], **verdict_of(*job)}


def judge(folder: Path, workers: int, commit: str) -> None:
    """Check all mutants of a folder again, by what is checked out now."""
    made = json.loads((folder / "mutants.json").read_text())
    known = {entry["name"]: entry for entry in made["mutants"]}
    jobs = [(name, (folder / "specs" / f"{name}.tsc.yaml").read_text("utf-8")) for name in known]
    with ProcessPoolExecutor(workers) as pool:
        for found in pool.map(_judged, jobs, chunksize=4):
            entry = known[found["name"]]
            if entry["proved"] != found["proved"]:
                print(f"{found['name']} {entry['words']}: {entry['rules']} -> {found['rules']}")
            entry |= found
    made["judged"] = commit
    (folder / "mutants.json").write_text(json.dumps(made, indent=1) + "\n")


def make(folder: Path, workers: int, made: list[Mutant], commit: str) -> None:
    """Write, check and build mutants, and the unchanged specs beside them as controls."""
    for part in ("specs", "cubins"):
        (folder / part).mkdir(parents=True, exist_ok=True)
        for stale in (folder / part).iterdir():
            stale.unlink()
    shipped = controls(tuple(sorted({mutant.spec for mutant in made})))
    texts = shipped | {mutant.name: mutant.text for mutant in made}
    for name, text in texts.items():
        (folder / "specs" / f"{name}.tsc.yaml").write_text(text, encoding="utf-8")
    jobs = [(name, text, str(folder / "cubins")) for name, text in texts.items()]
    found: dict[str, dict[str, Any]] = {}
    with ProcessPoolExecutor(workers) as pool, (folder / "found.jsonl").open("w") as log:
        for it in pool.map(examined, jobs, chunksize=2):
            found[it["name"]] = it
            log.write(json.dumps(it) + "\n")
            log.flush()
        again = [job for job in jobs if found[job[0]]["proved"] and not found[job[0]]["reason"]]
        for name, reason in pool.map(slowed, again, chunksize=2):
            found[name]["slow"] = reason
    for name in shipped:
        if not found[name]["proved"] or found[name]["reason"] or found[name]["slow"]:
            raise SystemExit(f"{name} is not as it should be: {found[name]}")
    listed = []
    for mutant in made:
        entry = asdict(mutant) | found[mutant.name]
        del entry["text"]
        listed.append(entry)
    facts = {"commit": commit, "date": datetime.datetime.now(datetime.UTC).date().isoformat()}
    (folder / "mutants.json").write_text(json.dumps({**facts, "mutants": listed}, indent=1) + "\n")
    counts = Counter(
        (
            entry["spec"],
            "proved" if entry["proved"] else "rejected",
            "built" if not entry["reason"] else "not built",
        )
        for entry in listed
    )
    for key, count in sorted(counts.items()):
        print(*key, count)


def counted(rows: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Return the counts of each spec that has mutants."""
    by_spec = {spec: [row for row in rows if row["spec"] == spec] for spec in SPECS}
    return {spec: confusion(found) for spec, found in by_spec.items() if found}


def merged(folder: Path) -> dict[str, Any]:
    """Return the result: each mutant with its verdict and its run, and the counts of each spec."""
    made = json.loads((folder / "mutants.json").read_text())
    runs = json.loads((folder / "runs.json").read_text())
    rows, apart = [], []
    for entry in made["mutants"]:
        run = runs["runs"].get(entry["name"], {"outcome": "not buildable", "detail": entry["reason"]})
        if run["outcome"] not in OUTCOMES:
            raise SystemExit(f"{entry['name']} has no outcome but {run['outcome']}")
        row = {
            **{key: entry[key] for key in ("name", "spec", "sort", "words", "proved", "rules")},
            "outcome": run["outcome"],
            "detail": run["detail"],
            "slow": entry.get("slow") == "",
            "built": entry.get("built", made["commit"]),
        }
        reason = next((why for words, why in APART.items() if words in entry["words"]), "")
        if entry["proved"] and reason:
            apart.append(row | {"reason": reason})
        else:
            rows.append(row)
    return {
        **runs["conditions"],
        "commit": made["commit"],
        "judged": made.get("judged", made["commit"]),
        "controls": {n: run["outcome"] for n, run in sorted(runs["runs"].items()) if CONTROL in n},
        "counts": counted(rows),
        "mutants": rows,
        "apart": apart,
    }


def result() -> dict[str, Any]:
    """Return the measured result."""
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return found


def table(facts: dict[str, Any]) -> str:
    """Return the confusion table in Markdown, with the conditions before it."""
    lines = [
        f"Built at commit {facts['commit']}, checked at {facts['judged']}, run on {facts['date']} on one "
        f"{facts['device']}, driver {facts['driver']}. {facts['method'].capitalize()}.",
        "",
        "| spec | mutants | verdict | right | wrong | hang | launch error | not buildable |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for spec, counts in facts["counts"].items():
        for verdict in ("proved", "rejected"):
            cells = [counts[f"{verdict}, {outcome}"] for outcome in OUTCOMES]
            lines.append(f"| {spec} | {sum(cells)} | {verdict} | {' | '.join(map(str, cells))} |")
    lines += ["", *map(said_later, facts.get("later", ()))]
    shares = (f"{failing_share(counts):.0%} of {spec}" for spec, counts in facts["counts"].items())
    lines.append(f"Of the rejected mutants that could be built and run, {', '.join(shares)} failed.")
    if facts["apart"]:
        outcomes = Counter(row["outcome"] for row in facts["apart"])
        said = ", ".join(f"{count} came out {outcome}" for outcome, count in sorted(outcomes.items()))
        lines.append(f"Of {len(facts['apart'])} proved mutants that touch what is trusted, {said}.")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run one of the stages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("stage", choices=("make", "judge", "merge", "table"))
    parser.add_argument("--folder", type=Path, default=Path(".mutants"))
    parser.add_argument("--commit", help="what is checked out, where git cannot tell")
    parser.add_argument("--spec", action="append", choices=tuple(SPECS), help="only mutants of these")
    parser.add_argument("--add", action="store_true", help="keep the result of other specs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    match options.stage:
        case "make":
            specs = tuple(options.spec or SPECS)
            made = list(every_mutant(specs, options.seed))
            make(options.folder, options.workers, made, options.commit or commit_at_hand())
        case "judge":
            judge(options.folder, options.workers, options.commit or commit_at_hand())
        case "merge":
            facts = merged(options.folder)
            if options.add:
                facts = joined(result(), facts)
                facts["counts"] = counted(facts["mutants"])
            RESULTS.write_text(json.dumps(facts, indent=1) + "\n")
            print(table(facts), end="")
            for name in false_proofs(facts):
                print(f"proved and failed: {name}", file=sys.stderr)
        case "table":
            print(table(result()), end="")


if __name__ == "__main__":
    main()
