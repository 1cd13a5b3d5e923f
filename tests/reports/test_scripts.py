"""The scripts over bench: what they find in rows of measurements, and what they take from the program.

usage: test_scripts.py SCRIPTS_FOLDER
"""
import argparse
import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

SCRIPTS = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SCRIPTS))
import bench_rows  # noqa: E402
import bench_steps  # noqa: E402
import choice  # noqa: E402
import sweep  # noqa: E402
import wide_set  # noqa: E402


def row(name, us, algorithm="own", chosen="no", peer="", sparsity=0.9, math="fp32"):
    return {"name": name, "sparsity": str(sparsity), "algorithm": algorithm, "chosen": chosen,
            "peer_version": peer, "median_us": str(us), "math": math}


class Scripts(unittest.TestCase):
    def test_slower_layers(self):
        rows = []
        for name, own, best in (("wins", 10, 10), ("loses", 30, 25), ("loses_more", 50, 50)):
            rows += [row(name, own, chosen="yes"), row(name, best, "other"),
                     row(name, 24, "onednn", peer="3"), row(name, 90, "openblas", peer="3"),
                     row(name, 1, "cusparse", peer="3"),
                     row(name, 2, "cudnn_tf32", peer="3", math="tf32")]
        rows += [row("alone", 10, chosen="yes")]
        lines, compared = wide_set.slower(rows)
        self.assertEqual(compared, 3)
        self.assertEqual([line.split(",")[0] for line in lines], ["loses_more", "loses"])
        self.assertIn("own 30 us, onednn 24 us, 0.80x (csrconv's best: other, 0.96x)", lines[1])

    def test_choices(self):
        rows = [row("good", 10, chosen="yes"), row("good", 9.5, "other"), row("good", 1, "x", peer="3"),
                row("bad", 30, chosen="yes"), row("bad", 20, "other"), row("none", 5)]
        for each in rows:
            each["batch"] = "1"
        judged, unchosen = choice.judge(rows)
        self.assertEqual([(name, best) for _, name, _, _, best in judged],
                         [("bad", "other"), ("good", "other")])
        self.assertEqual(judged[0][0], 1.5)
        self.assertEqual(unchosen, 1)

    def test_sparsity_cliffs(self):
        times = {0.5: 100, 0.7: 60, 0.8: 62, 0.9: 90, 0.95: 20}
        rows = [row("a", us, chosen="yes", sparsity=s) for s, us in reversed(times.items())]
        rows += [row("a", 1, sparsity=0.6)]
        cliffs = list(sweep.sparsity_cliffs(rows))
        self.assertEqual(cliffs, ["a: 80 % zeros take 62 us, 90 % 90 us"])

    def test_pixel_cliffs(self):
        times = {7: 20, 8: 10, 9: 12, 15: 20, 16: 21, 17: 40, 31: 80}
        rows = [row(f"pixels:{n}", us, chosen="yes") for n, us in times.items()]
        cliffs = list(sweep.pixel_cliffs(rows))
        self.assertEqual(cliffs, ["7 pixels take 20 us, 8 10 us", "16 pixels take 21 us, 17 40 us"])

    def test_origins(self):
        """Rows that differ in any part of it are not put into one file; what has none is not told."""
        parts = ("device", "machine", "driver", "threads", "version", "commit")
        here = {part: f"{part}_a" for part in parts}
        self.assertEqual(bench_steps.origin({**here, "name": "a", "driver": ""}),
                         "device device_a, machine machine_a, threads threads_a, version version_a, "
                         "commit commit_a")
        bench_steps.refuse_another_origin("rows.csv", [here, {**here, "name": "b"}])
        for part in parts:
            with contextlib.redirect_stderr(io.StringIO()) as told, self.assertRaises(SystemExit):
                bench_steps.refuse_another_origin("rows.csv", [here, {**here, part: "other"}])
            self.assertIn(f"{part} {part}_a", told.getvalue())
            self.assertIn(f"{part} other", told.getvalue())

    def test_files_are_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "rows.csv"
            bench_rows.write(path, [{"a": "1,2", "b": "x"}])
            self.assertEqual(path.read_text(), 'a,b\n"1,2",x\n')
            with self.assertRaises(SystemExit):
                bench_rows.write(path, [{"a": "1"}, {"c": "2"}])
            self.assertEqual(path.read_text(), 'a,b\n"1,2",x\n')
            self.assertEqual([item.name for item in path.parent.iterdir()], ["rows.csv"])

    def test_a_file_is_replaced_when_it_is_whole(self):
        """By one that others may read; else it stays, and nothing lies beside it."""
        self.addCleanup(os.umask, os.umask(0o027))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "rows.csv"
            for fault, ended in ((None, None), (KeyError(), KeyError),
                                 (OSError(28, "No space left"), SystemExit)):
                with contextlib.ExitStack() as stack:
                    if fault:
                        stack.enter_context(self.assertRaises(ended))
                    file = stack.enter_context(bench_rows.replacing(path))
                    file.write(f"{fault!r}\n")
                    if fault:
                        raise fault
                self.assertEqual(path.read_text(), "None\n")
                self.assertEqual(path.stat().st_mode & 0o777, 0o640)
                self.assertEqual(list(path.parent.iterdir()), [path])

    def test_command_lines(self):
        """Of those that are more than modules: run as they lie there, without any site's packages."""
        for path in SCRIPTS.glob("*.py"):
            text = path.read_text()
            self.assertEqual([text.startswith("#!/usr/bin/env python3\n"), os.access(path, os.X_OK)],
                             2 * ["__main__" in text], path)
            if "__main__" not in text:
                continue
            for argument, code in ("--help", 0), ("--no-such", 2):
                done = subprocess.run([sys.executable, "-S", path, argument], text=True, check=False,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(f"usage: {path.name} ", done.stdout + done.stderr)
                self.assertNotIn("Traceback", done.stderr)

    def test_without_data(self):
        for where in ["/no/data"], []:
            done = subprocess.run([sys.executable, SCRIPTS / "wide_set.py", "csrconv", *where,
                                   "--csv", "x.csv"], stdout=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, 77)
            self.assertRegex(done.stdout, r"\Askipped: no data[^\n]*\n\Z")


INFO = """direct  cpu  own  fp32
direct_x  cpu  own  fp32
dense  cpu  peer  fp32
    indented  cpu  own  fp32
two cpu
cuda_x  cuda  own  fp32
cuda_dense  cuda  peer  tf32
"""


class Program(unittest.TestCase):
    """What the scripts take from it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, output, code=0, lines=""):
        """Options for one that prints this; what it tells on stderr is of no interest."""
        path = self.folder / "csrconv"
        (self.folder / "output").write_text(output)
        path.write_text(f"#!/bin/sh\ncat '{self.folder}/output'\n{lines}\nexit {code}\n")
        path.chmod(0o755)
        return argparse.Namespace(csrconv=path, device="auto", batch=1, threads=0, min_time="0",
                                  algo="own", is_wrong=False)

    def test_algorithms(self):
        options = self.program(INFO)
        for options.device, names in {"auto": "direct_x,dense,cuda_x,cuda_dense",
                                      "cpu": "direct_x,dense", "cuda": "cuda_x,cuda_dense",
                                      "cuda:1": "cuda_x,cuda_dense"}.items():
            self.assertEqual(bench_rows.algorithms(options), names)
        self.assertEqual(bench_rows.algorithms(options, kinds=("own",)), "cuda_x")
        options = self.program("direct  cpu  own  fp32\ndense  cpu  peer  fp32\n")
        self.assertEqual(bench_rows.algorithms(options), "direct,dense")
        options.device = "cuda"
        for failing in options, self.program(INFO, code=1):
            with self.assertRaisesRegex(SystemExit, "tells no algorithms of"):
                bench_rows.algorithms(failing)

    def test_rows_of_bench(self):
        """None of a layer that is refused or wrong; another exit code ends the script, whatever else."""
        names = ",".join(bench_rows.COLUMNS)
        for code, told, is_written, count in (
                (0, "", True, 0), (1, "", False, 0), (3, bench_rows.IDLE, False, 0),
                (0, "", False, None), (3, "", False, None), (2, bench_rows.IDLE, False, None),
                (9, "", True, None)):
            lines = (f"echo '{told}' >&2\nwhile [ $1 != --csv ]; do shift; done\n"
                     + f"echo '{names}' >$2" * is_written)
            options = self.program("", code, lines)
            with self.subTest(code=code, told=told), contextlib.redirect_stderr(io.StringIO()):
                if count is None:
                    with self.assertRaisesRegex(SystemExit, f"exit code {code} of "):
                        bench_rows.bench(options, "ic1")
                else:
                    self.assertEqual(len(bench_rows.bench(options, "ic1")), count)
                    self.assertEqual(options.is_wrong, code == bench_rows.WRONG)

    def test_places(self):
        """Where nothing can be written, and nothing to write."""
        with contextlib.redirect_stderr(io.StringIO()) as told:
            for path in self.folder / "no" / "rows.csv", self.folder:
                with self.assertRaises(SystemExit):
                    bench_rows.place_of(path)
            with mock.patch("os.access", return_value=False), self.assertRaises(SystemExit):
                bench_rows.place_of(self.folder / "rows.csv")
        self.assertEqual([line.split(": ")[2] for line in told.getvalue().splitlines()],
                         ["no such folder", "is no regular file", "its folder cannot be written to"])
        with self.assertRaisesRegex(SystemExit, "there are no results for it"):
            bench_rows.write(self.folder / "rows.csv", [])


if __name__ == "__main__":
    unittest.main()
