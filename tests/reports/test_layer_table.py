"""The table of measurements that a README shows: what it says, and which files it refuses.

usage: test_layer_table.py SCRIPTS_FOLDER
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SCRIPTS))
import bench_rows  # noqa: E402


def gpu_row(layer, batch, algorithm, us, peer="", math="fp32", cache="hot"):
    return {"name": f"net:{layer}", "batch": batch, "algorithm": algorithm,
            "chosen": "no" if peer else "yes", "device": "cuda:0", "math": math, "cache": cache,
            "threads": 0, "median_us": us, "verified": "full", "machine": "Example GPU",
            "sm_clock_mhz": 1900 + batch, "driver": "580.1", "peer_version": peer,
            "commit": "0123abc"}


class LayerTable(unittest.TestCase):
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


if __name__ == "__main__":
    unittest.main()
