"""The scripts over bench: what they find in rows of measurements; those that run it on a GPU.

usage: test_scripts.py SCRIPTS_FOLDER
"""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SCRIPTS))
import bench_rows  # noqa: E402
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
                         gpu_row(layer, batch, "cuda_tiled", 900, cache="cold")]
        rows[0]["verified"] = "sampled"
        with tempfile.TemporaryDirectory() as folder:
            readme = pathlib.Path(folder) / "README.md"
            bench_rows.write(pathlib.Path(folder) / "layers-net.csv", rows)
            readme.write_text("<!-- results of layers-*.csv -->\n<!-- end of results -->\n")
            subprocess.run([sys.executable, SCRIPTS / "layer_table.py", "update", readme],
                           check=True)
            text = readme.read_text()
        self.assertIn("on Example GPU, 1901 to 1932 MHz, driver 580.1, commit 0123abc:"
                      " medians, hot caches, every result verified, 1 of 12 by samples. ", text)
        self.assertIn("| network | batch | layers | csrconv us | over cudnn | over cudnn_tf32 |", text)
        self.assertIn("| net | 32 | 2 | 30 | 2.83 (2.00-4.00) | 0.57 (0.40-0.80) | 2 of 2 |\n",
                      text)

    def table_fails(self, what, data, *others):
        """The table of a file of these bytes, and of others: one line on stderr, exit code 2."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.csv"
            if data is not None:
                path.write_bytes(data)
            done = subprocess.run([sys.executable, SCRIPTS / "layer_table.py", "summary", path,
                                   *others], stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertRegex(done.stderr, rf"\Alayer_table.py: [^\n]*{what}[^\n]*\n\Z")

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
        self.table_fails("2: verified: 'no' is neither", whole.replace(b",full,", b",no,"))
        self.table_fails("2: median_us: '-10' is no time", whole.replace(b",10,", b",-10,"))
        self.table_fails("no time of csrconv's choice", whole.replace(first + b"\n", b""))

    def test_without_data(self):
        done = subprocess.run([sys.executable, SCRIPTS / "wide_set.py", "csrconv", "/no/data",
                               "--csv", "x.csv"], stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (77, "skipped: no data in /no/data\n"))


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
