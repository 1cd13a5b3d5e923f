"""Stands in for csrconv bench: makes up rows of what it is asked for, and fails as it is told.

It keeps its arguments in the file calls beside it, a line for each bench, and reads from the environment
  FAKE_FAILS    the call that ends with exit code 9, from 1
  FAKE_REFUSES  a part of the names of layers that are refused
  FAKE_WRONG    a part of the names of layers whose results are wrong
  FAKE_LOST     the call from which on there is no device
  FAKE_EMPTY    set: a call writes no rows and says that all went well
  FAKE_DEVICE   the device of the rows
  FAKE_COMMIT   their commit
  FAKE_SLEEPS   seconds that a call takes
"""
import csv
import os
import pathlib
import sys
import time

COLUMNS = ("name", "batch", "sparsity", "algorithm", "math", "peer_version", "chosen", "median_us",
           "device", "machine", "commit")


def told(what):
    return os.environ.get(f"FAKE_{what}", "")


def count_call():
    calls = pathlib.Path(__file__).parent / "calls"
    with open(calls, "a", encoding="utf-8") as file:
        file.write(" ".join(sys.argv[2:]) + "\n")
    return len(calls.read_text(encoding="utf-8").splitlines())


def option(name, default=None):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def algorithms():
    asked = option("--algo")
    return ("own", "other", "dense") if asked == "all" else asked.split(",")


def time_of(algorithm, sparsity):
    """From 90 % on the chosen one is not the fastest."""
    if algorithm == "dense":
        return 20
    return 12 if algorithm == "own" and sparsity >= 0.9 else 10


def write_rows(name):
    """What a sparsity becomes is a little more, as whole weights make it."""
    with open(option("--csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for sparsity in option("--sparsity", "0.5").split(","):
            for algorithm in algorithms():
                peer = "9" if algorithm == "dense" else ""
                writer.writerow((name, option("--batch"), f"{float(sparsity) + 0.001:g}", algorithm,
                                 "tf32" if peer else "fp32", peer,
                                 "yes" if algorithm == "own" else "no",
                                 time_of(algorithm, float(sparsity)),
                                 told("DEVICE") or "cuda:0", "Example GPU",
                                 told("COMMIT") or "1"))


def bench():
    call, name = count_call(), sys.argv[-1].split('"')[1]
    time.sleep(float(told("SLEEPS") or 0))
    if told("FAILS") == str(call):
        return 9
    if told("LOST") and call >= int(told("LOST")):
        print("csrconv: --device: cuda:0: no NVIDIA driver", file=sys.stderr)
        return 3
    if told("REFUSES") and told("REFUSES") in name:
        print("csrconv: bench: nothing ran for 1 of the points", file=sys.stderr)
        return 3
    if told("WRONG") and told("WRONG") in name:
        return 1
    if not told("EMPTY"):
        write_rows(name)
    return 0


if sys.argv[1] == "info":
    print("own    cuda own  fp32\nother  cuda own  fp32\ndense  cuda peer tf32")
    sys.exit(0)
sys.exit(bench())
