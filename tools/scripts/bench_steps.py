"""Measures many layers step by step, so that a run cut short leaves what it measured.

A step is one run of csrconv bench. The steps of one layer at one batch are a unit: their times are held
against each other, so one machine measures all of them. After each unit the CSV is written anew, whole.
With --resume a unit is done if the CSV has a row of each of its steps at each sparsity of the step; any
other is measured again from its first step, and its new rows take the place of the old. A step without
rows was refused, or every result of it was wrong, which is then told again, or has been mended. An
algorithm without a row beside others that have one may have refused the layer, so it is not missed; and
the exit code tells of wrong results of this run alone.
"""
import argparse
import math
import sys
import time
import typing

import bench_rows

# A sparsity is met by whole weights: a layer of 64, fewer than any here has, meets it within 1 / 128.
NEAR = 0.008


def duration(text):
    """The type of an argument that is a number of seconds."""
    seconds = float(text)
    if not seconds >= 0.0:
        raise argparse.ArgumentTypeError(f"'{text}' is no time")
    return seconds


def add_arguments(parser):
    parser.add_argument("--resume", action="store_true",
                        help="keep what is in the CSV, and measure the rest (begin anew)")
    parser.add_argument("--seconds", type=duration, default=math.inf,
                        help="begin no layer after so many; the exit code is 0 all the same (no limit)")


def separated(kind):
    """The type of an argument that is numbers with commas between them, each once."""
    def numbers(text):
        values = [kind(item) for item in text.split(",")]
        if len(set(values)) < len(values):
            raise argparse.ArgumentTypeError(f"'{text}' has a number twice")
        return values
    return numbers


def sparsities(text):
    """The type of an argument that is sparsities, far enough apart that weights tell which is met."""
    values = separated(float)(text)
    in_order = sorted(values)
    if not all(0.0 <= value <= 1.0 for value in values):
        raise argparse.ArgumentTypeError(f"'{text}' is not numbers from 0 to 1")
    for value, after in zip(in_order, in_order[1:]):
        if after - value <= 2 * NEAR:
            raise argparse.ArgumentTypeError(f"{value} and {after} are nearer than {2 * NEAR}")
    return values


class Step(typing.NamedTuple):
    problem: str  # as benchdnn describes it, with a name
    batch: int
    algorithms: str
    sparsities: list = []  # none: the weights have their own
    weights: tuple = ()    # the arguments of bench that say where they are

    @property
    def name(self):
        return self.problem.split('"')[1]

    def arguments(self):
        if not self.sparsities:
            return *self.weights, self.problem
        return "--sparsity", ",".join(map(str, self.sparsities)), self.problem

    def runs(self, algorithm):
        return self.algorithms == "all" or algorithm in self.algorithms.split(",")

    def leaves(self, row):
        """Whether the row is of this step, at whatever sparsity."""
        return (row["name"] == self.name and int(row["batch"]) == self.batch
                and self.runs(row["algorithm"]))

    def asked(self, row):
        """The sparsity for which the row's was made, or None."""
        met = float(row["sparsity"])
        nearest = min(self.sparsities, key=lambda sparsity: abs(sparsity - met), default=math.inf)
        return nearest if abs(nearest - met) <= NEAR else None

    def is_done(self, rows):
        asked = {self.asked(row) for row in rows if self.leaves(row)}
        return bool(asked) and asked.issuperset(self.sparsities)


def refuse_others(path, rows, steps):
    """Ends the script if a row is of none of the steps: it would be judged, or drawn, with theirs."""
    known = {
        "name": lambda step, row: step.name == row["name"],
        "batch": lambda step, row: step.batch == int(row["batch"]),
        "algorithm": lambda step, row: step.runs(row["algorithm"]),
        "sparsity": lambda step, row: not step.sparsities or step.asked(row) is not None,
    }
    for row in rows:
        of_row = steps
        for column, is_same in known.items():
            of_row = [step for step in of_row if is_same(step, row)]
            if not of_row:
                bench_rows.fail(path, f"its row of {row['name']}, batch {row['batch']}, sparsity "
                                f"{row['sparsity']}, {row['algorithm']} has another {column} than "
                                "what is measured here")


def origin(row):
    """Where a row comes from: what rows that are held against each other have in common."""
    parts = ("device", "machine", "driver", "threads", "version", "commit")
    return ", ".join(f"{part} {row[part]}" for part in parts if row.get(part))


def refuse_another_origin(path, rows):
    origins = sorted({origin(row) for row in rows})
    if len(origins) > 1:
        bench_rows.fail(path, f"would have rows of {origins[0]} beside those of {origins[1]}")


def units(steps):
    """Lists of the steps whose times are held against each other."""
    found = {}
    for step in steps:
        found.setdefault((step.name, step.batch), []).append(step)
    return list(found.values())


def count(some_units):
    return sum(map(len, some_units))


def measure_unit(options, unit):
    rows = []
    for step in unit:
        new = bench_rows.bench(options, *step.arguments(), batch=step.batch, algo=step.algorithms)
        print(f"{step.problem}, batch {step.batch}, rows: {len(new)}", flush=True)
        rows += new
    return rows


def measure(options, path, steps):
    """Runs the units that are not done, in their order, while there is time. All rows, old and new."""
    start = time.monotonic()
    bench_rows.place_of(path)
    rows = bench_rows.read(path) if options.resume else []
    refuse_others(path, rows, steps)
    refuse_another_origin(path, rows)
    left = [unit for unit in units(steps) if not all(step.is_done(rows) for step in unit)]
    if count(left) < len(steps):
        print(f"{len(steps) - count(left)} of {len(steps)} steps are there, of {origin(rows[0])}")
    while left and time.monotonic() - start < options.seconds:
        unit = left.pop(0)
        new = measure_unit(options, unit)
        rows = [row for row in rows if not any(step.leaves(row) for step in unit)] + new
        if rows:
            refuse_another_origin(path, rows)
            bench_rows.write(path, rows)
    if left:
        print(f"out of time: {count(left)} of {len(steps)} steps are left, for --resume")
    elif not rows:
        sys.exit(f"{sys.argv[0]}: {path}: there are no results for it")
    return rows
