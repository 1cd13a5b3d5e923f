"""Runs csrconv bench and keeps its rows: what the scripts that measure many layers share."""
import argparse
import contextlib
import csv
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile


WRONG, BAD, REFUSED = 1, 2, 3  # exit codes of bench
IDLE = "nothing ran for"  # REFUSED with these words is of a layer; without, of the device
MOST_IMAGES = 2**31 - 1  # in a batch


def whole(least, most):
    """The type of an argument that is one whole number."""
    def number_of(text):
        if not re.fullmatch("[0-9]{1,10}", text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"'{text}' is no whole number from {least} to {most}")
        return int(text)
    return number_of


def device(text):
    """The type of an argument that is a device, as the program takes it."""
    if text.startswith("cuda:"):
        whole(0, 1023)(text.removeprefix("cuda:"))
    elif text not in ("auto", "cpu", "cuda"):
        raise argparse.ArgumentTypeError(f"'{text}' is not auto, cpu, cuda or cuda:N")
    return text


def add_arguments(parser):
    parser.add_argument("csrconv", help="the program")
    parser.set_defaults(is_wrong=False)
    parser.add_argument("--device", type=device, default="auto",
                        help="auto, cpu or cuda[:N] (%(default)s)")
    parser.add_argument("--batch", type=whole(1, MOST_IMAGES), default=1,
                        help="images (%(default)s)")
    parser.add_argument("--threads", type=whole(0, 4096), default=0, help="0 = all (%(default)s)")
    parser.add_argument("--min-time", default="0.5",
                        help="seconds of samples for each algorithm (%(default)s)")
    parser.add_argument("--algo", help="the algorithms to run, in place of all")


def run(command):
    """The program's run, whose errors are shown."""
    try:
        done = subprocess.run([str(item) for item in command], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    except OSError as error:
        sys.exit(f"{sys.argv[0]}: {command[0]}: {error.strerror}")
    sys.stderr.write(done.stderr)
    return done


def algorithms(options, kinds=("own", "peer")):
    """The device's, of any if that is not said; but for the plain kernel, which is there to be read
    and takes long, unless it is alone."""
    done = run([options.csrconv, "info", "--algos"])
    kind = options.device.partition(":")[0]
    rows = [line.split() for line in done.stdout.splitlines() if line[:1].isalnum()]
    names = [row[0] for row in rows
             if len(row) > 2 and kind in (row[1], "auto") and row[2] in kinds]
    if done.returncode or not names:
        sys.exit(f"{sys.argv[0]}: {options.csrconv} info --algos tells no algorithms of {kind}")
    own = [name for name in names if name.startswith("direct_")]
    return ",".join(name for name in names if name != "direct" or not own)


def bench(options, *arguments, svg=None, batch=None, algo=None):
    """The rows of one run, by the options but for what is given. Wrong results, which have no rows,
    make the script's exit code 1 in the end; layers that all refuse have none either; any other
    failure ends it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rows.csv"
        command = [options.csrconv, "bench", "--device", options.device,
                   "--batch", options.batch if batch is None else batch,
                   "--threads", options.threads, "--min-time", options.min_time,
                   "--algo", algo or options.algo or algorithms(options),
                   "--csv", path, *arguments]
        if svg:
            command += ["--svg", svg]
        done = run(command)
        options.is_wrong |= done.returncode == WRONG
        is_idle = done.returncode == REFUSED and IDLE in done.stderr
        is_done = done.returncode == 0 and path.exists()
        if not is_done and done.returncode != WRONG and not is_idle:
            sys.exit(f"{sys.argv[0]}: exit code {done.returncode} of {' '.join(map(str, command))}")
        return read(path)


COLUMNS = {"name", "batch", "sparsity", "algorithm", "math", "peer_version", "chosen", "median_us",
           "device", "machine"}


def fail(path, what):
    """As the program itself fails on a bad file."""
    print(f"{sys.argv[0]}: {path}: {what}", file=sys.stderr)
    sys.exit(BAD)


def number(text):
    try:
        return float(text)
    except ValueError:
        return math.nan


CHECKS = {
    "name": str.isprintable,
    "algorithm": str.isprintable,
    "batch": lambda text: text.isdecimal() and len(text) <= 10 and 1 <= int(text) <= MOST_IMAGES,
    "sparsity": lambda text: 0.0 <= number(text) <= 1.0,
    "median_us": lambda text: 0.0 < number(text) < math.inf,
}


def table(path, columns):
    """The lines and rows of a CSV that has the columns. A broken one ends the script."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file, strict=True)
            missing = sorted(columns.difference(reader.fieldnames or ()))
            if missing:
                fail(path, f"there is no column {missing[0]}")
            for row in reader:
                if None in row or None in row.values():
                    fail(path, f"line {reader.line_num} has another number of fields than the header")
                yield reader.line_num, row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        fail(path, getattr(error, "strerror", None) or error)


def check(path, line, row):
    """What the scripts count with, or draw."""
    for column, is_right in CHECKS.items():
        if not is_right(row[column]):
            fail(path, f"line {line}: {column} is {row[column]!a}")


def read(path):
    """Of one CSV of bench; none if it is missing."""
    if not os.path.exists(path):
        return []
    rows = []
    for line, row in table(path, COLUMNS):
        check(path, line, row)
        rows.append(row)
    return rows


def place_of(path):
    """Where the file lies that a path, or a link, leads to; fails if it cannot be replaced."""
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        fail(path, "no such folder")
    if os.path.exists(target) and not os.path.isfile(target):
        fail(path, "is no regular file")
    if not os.access(folder, os.W_OK | os.X_OK):
        fail(path, "its folder cannot be written to")
    return target


@contextlib.contextmanager
def replacing(path):
    """A file to write, which takes the place of the other when it is whole, or leaves nothing. A
    link keeps leading to it."""
    target = place_of(path)
    try:
        with tempfile.TemporaryDirectory(dir=os.path.dirname(target), prefix=".csrconv-") as folder:
            whole_file = os.path.join(folder, "new")
            with open(whole_file, "w", newline="", encoding="utf-8") as file:
                yield file
            os.replace(whole_file, target)
    except OSError as error:
        fail(path, error.strerror)


def write(path, rows):
    """One CSV, whole or not at all."""
    if not rows:
        sys.exit(f"{sys.argv[0]}: {path}: there are no results for it")
    if any(row.keys() != rows[0].keys() for row in rows):
        fail(path, "its columns are not those that csrconv bench writes now")
    with replacing(path) as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def is_dense_peer(row):
    """In fp32: less precise arithmetic is no fair baseline."""
    return (bool(row["peer_version"]) and row["math"] == "fp32"
            and not row["algorithm"].startswith("cusparse"))


def time_of(rows, wanted):
    """The fastest of the rows that are wanted: (us, algorithm), or None."""
    return min(((float(row["median_us"]), row["algorithm"]) for row in rows if wanted(row)),
               default=None)


def chosen(rows):
    """The time of the automatic choice."""
    return time_of(rows, lambda row: row["chosen"] == "yes")
