"""The scripts over bench: what they find in rows of measurements; those that run it on a GPU.

usage: test_scripts.py SCRIPTS_FOLDER
"""
import argparse
import contextlib
import io
import json
import os
import pathlib
import re
import shutil
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


def gpu_row(layer, batch, algorithm, us, peer="", math="fp32", cache="hot"):
    return {"name": f"net:{layer}", "batch": batch, "algorithm": algorithm,
            "chosen": "no" if peer else "yes", "device": "cuda:0", "math": math, "cache": cache,
            "threads": 0, "median_us": us, "verified": "full", "machine": "Example GPU",
            "sm_clock_mhz": 1900 + batch, "driver": "580.1", "peer_version": peer,
            "commit": "0123abc"}


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

    def test_table_of_a_gpu(self):
        rows = []
        for batch in (1, 32):
            for layer, us in (("a", 10), ("b", 20)):
                rows += [gpu_row(layer, batch, "cuda_tiled", us),
                         gpu_row(layer, batch, "cudnn", 40, "9"),
                         gpu_row(layer, batch, "cudnn_tf32", 8, "9", math="tf32"),
                         {**gpu_row(layer, batch, "direct", 999), "chosen": "no"},
                         gpu_row(layer, batch, "cuda_tiled", 900, cache="cold")]
        rows[0]["verified"] = "sampled"
        rows.append({**gpu_row("without_clock", 1, "cuda_tiled", 1), "cache": "cold",
                     "sm_clock_mhz": ""})
        with tempfile.TemporaryDirectory() as folder:
            readme = pathlib.Path(folder) / "README.md"
            bench_rows.write(pathlib.Path(folder) / "layers-net.csv", rows)
            readme.write_text("<!-- results of layers-*.csv -->\n<!-- end of results -->\n")
            for command, code in ("check", 1), ("update", 0), ("check", 0):
                done = subprocess.run([sys.executable, SCRIPTS / "layer_table.py", command, readme],
                                      stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(done.returncode, code)
                self.assertEqual("update README.md renews it\n" in done.stderr, bool(code))
            text = readme.read_text()
        self.assertIn("on Example GPU, 1901 to 1932 MHz, driver 580.1, commit 0123abc:"
                      " medians, hot caches, every result verified, 1 of 16 by samples. ", text)
        self.assertIn("| network | batch | layers | csrconv us | over cudnn | over cudnn_tf32 |", text)
        self.assertIn("| net | 32 | 2 | 30 | 2.83 (2.00-4.00) | 0.57 (0.40-0.80) | 2 of 2 |\n",
                      text)

    def table_fails(self, what, data, *others, name="a.csv", command="summary"):
        """The table of a file of these bytes, and of others: one line on stderr, exit code 2."""
        with self.subTest(what=what), tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            if data is not None:
                path.write_bytes(data)
            done = subprocess.run([sys.executable, SCRIPTS / "layer_table.py", command, path,
                                   *others], stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertRegex(done.stderr, rf"\Alayer_table.py: [^\n]*{what}[^\n]*\n\Z")

    def test_readme_without_a_table(self):
        for text, what in (("", "has no markers"), ("<!-- results of layers-*.csv -->", "no markers"),
                           ("<!-- results of no*.csv -->\n<!-- end of results -->", "there is no no"),
                           ("<!-- results of /a -->\n<!-- end of results -->", "README.md: /a: "),
                           ("<!-- results of . -->\n<!-- end of results -->", ""),
                           ("<!-- results of **a -->\n<!-- end of results -->", "")):
            self.table_fails(what, text.encode(), name="README.md", command="update")

    def test_table_of_bad_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "whole.csv"
            bench_rows.write(path, [gpu_row("a", 1, "cuda_tiled", 10),
                                    gpu_row("a", 1, "cudnn", 20, "9")])
            whole = path.read_bytes()
            self.table_fails("twice", whole, path)
            bench_rows.write(path, [{**gpu_row("b", 1, "direct", 10), "device": "cpu"}])
            self.table_fails("of a CPU and of a GPU together", whole, path)
        self.table_fails("a.csv: No such file", None)
        self.table_fails("a.csv: is no text", b"\x7fELF\x02\xff\xfe\n")
        self.table_fails("a.csv: ", b"a,b\0\n")
        self.table_fails("no column 'name'", b"")
        self.table_fails("no measurements", whole.splitlines(keepends=True)[0])
        header, first, last, _ = whole.split(b"\n")
        for cut in (5, len(header) - 9, len(header) + 3, len(whole) - len(last) // 2, len(whole) - 1):
            self.table_fails("a.csv", whole[:cut])
        self.table_fails("no column 'verified'", whole.replace(b"verified", b"other"))
        self.table_fails("unexpected end of data", whole + b'"x')
        self.table_fails("expected after", whole + b'"x"y')
        self.table_fails("3: has not as many cells", whole.replace(last, last + b",1"))
        self.table_fails("3: has not as many cells", whole.replace(last, last[:last.rindex(b",")]))
        for row in first, last:
            self.table_fails("is there twice", whole + row + b"\n")
        for batch in "1.5", "", 11 * "1", "\u00b2":
            self.table_fails(f"2: batch: '{batch}' is no whole number",
                             whole.replace(b",1,", f",{batch},".encode(), 1))
        self.table_fails("2: sm_clock_mhz: '2e3' is no whole", whole.replace(b",1901,", b",2e3,"))
        for name in "a|b", "<a", "a>":
            self.table_fails(re.escape(f"2: name: 'net:{name}' would not fit"),
                             whole.replace(b"net:a", f"net:{name}".encode()))
        for time in "soon", "0", "1e12":
            self.table_fails(f"2: median_us: '{time}' is no time",
                             whole.replace(b",10,", f",{time},".encode()))
        self.table_fails("2: verified: 'no' is neither", whole.replace(b",full,", b",no,"))
        self.table_fails("2: median_us: '-10' is no time", whole.replace(b",10,", b",-10,"))
        self.table_fails("no time of csrconv's choice", whole.replace(first + b"\n", b""))

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
        done = subprocess.run([sys.executable, SCRIPTS / "wide_set.py", "csrconv", "/no/data",
                               "--csv", "x.csv"], stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (77, "skipped: no data in /no/data\n"))


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


MESON = """#!/bin/sh
[ "$1" = test ] || exit 0
mkdir -p "$3/meson-logs"
cp "{folder}/testlog.json" "$3/meson-logs"
echo 'Ok:                 1'
echo 'Skipped:            4'
"""
# That it has numpy keeps the script from looking for another.
PYTHON = f"""#!/bin/sh
[ "$1" = -c ] || exec {sys.executable} "$@"
"""


class TestScript(unittest.TestCase):
    def test_reasons_of_skipped_tests(self):
        """The script runs over a meson that has run nothing."""
        tests = [{"result": "OK", "stdout": "skipped: one case\n"}, {"result": "SKIP"}]
        for reason in 2 * ["no GPU"] + ["no data"]:
            tests.append({"result": "SKIP", "stdout": f"1..3\nskipped: {reason}\n"})
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "tools").mkdir()
            shutil.copy(SCRIPTS.parent / "test.sh", folder / "tools")
            (folder / "testlog.json").write_text("\n".join(map(json.dumps, tests)))
            for path, text in (("meson", MESON.format(folder=folder)), ("ninja", "#!/bin/sh\n"),
                               ("python3", PYTHON), ("tools/setup.sh", "#!/bin/sh\n")):
                (folder / path).write_text(text)
                (folder / path).chmod(0o755)
            done = subprocess.run([folder / "tools" / "test.sh", "minimal"], stdout=subprocess.PIPE,
                                  env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
                                  text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, "minimal +passed, 1 tests passed, 0 failed, 4 skipped, [0-9]+ s\n"
                         "    skipped: 1 for no reason told, 2 for no GPU, 1 for no data\n")


class GpuScripts(unittest.TestCase):
    """Those of tools/gpu, as far as they get without a GPU."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program("nvidia-smi", "exit 9")
        self.program("csrconv", "echo 'cuda:0  not usable: cuda:0: no NVIDIA driver'")

    def program(self, name, line):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def result(self, name, *arguments):
        path = f"{self.folder}:{os.environ['PATH']}"
        done = subprocess.run([SCRIPTS.parent / "gpu" / f"{name}.sh", *map(str, arguments)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "PATH": path}, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_usage(self):
        for name in ("bench", "build", "profile", "sanitize", "verify"):
            self.assertRegex(str(self.result(name)),
                             rf"\(2, '', 'csrconv gpu {name}: usage: tools/gpu/{name}.sh BUILD")
        for name, *arguments in (("bench", "F", "no"), ("bench", "F", "alexnet-1"),
                                 ("bench", "F", "wide-0"), ("verify", "own", "no")):
            self.assertEqual(self.result(name, self.folder, *arguments),
                             (2, "", f'csrconv gpu {name}: there is no phase "{arguments[-1]}"\n'))
        for phase in "alexnet", "alexnet-2", "alexnet-10", "googlenet-999999999", "wide-1":
            self.assertEqual(self.result("bench", self.folder, "F", phase)[0], 3)
        self.assertEqual(self.result("verify", "/no/build"),
                         (2, "", "csrconv gpu verify: no csrconv in /no/build\n"))

    def test_no_gpu(self):
        out = self.folder / "out"
        for name, *arguments in (("bench", out), ("profile", out), ("sanitize",), ("verify",)):
            code, _, told = self.result(name, self.folder, *arguments)
            self.assertEqual((code, told), (3, f"csrconv gpu {name}: no usable GPU\n"))
        self.assertFalse(out.exists())

    def test_arch(self):
        self.assertEqual(self.result("arch"),
                         (3, "", "csrconv gpu arch: no GPU here, or no driver\n"))
        self.program("nvidia-smi", "printf '9.0\\n12.0\\n7.5\\n9.0\\n'")
        self.assertEqual(self.result("arch"), (0, "75,90,120\n", ""))


if __name__ == "__main__":
    unittest.main()
