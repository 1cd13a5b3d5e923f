"""reproduce: its files, what stands in them, and what it does when it cannot."""
import csv
import os
import pathlib
import signal
import subprocess
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import support  # noqa: E402

HEAD = "net,layer,N_default,C,H,W,M,R,S,pad_h,pad_w,groups,sparsity\n"
TABLE = HEAD + """tiny,one,3,16,9,9,24,3,3,1,1,1,0.8
tiny,two|2,3,32,8,8,40,1,1,0,0,2,0.9
tiny,dense,3,32,8,8,40,1,1,0,0,2,
"""
FILES = ["ablation.csv", "layers.csv", "report.md", "speed-up-tiny.svg", "totals.svg"]
VARIANTS = ["complete", "one_block", "natural_order", "single_tiles", "images_in_lanes",
            "pixels_in_lanes"]


class Reproduce(support.Case):
    def setUp(self):
        super().setUp()
        self.write("tiny.csv", TABLE.encode())

    def reproduce(self, folder, *arguments):
        return self.succeed("reproduce", "--out", folder, "--network", "tiny.csv", "--device",
                            "cpu", "--min-time", 0, "--threads", 1, *arguments)

    def rows(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def test_files(self):
        done = self.reproduce("a/b")  # the folder and its parent are made
        self.assertEqual(done.stdout, b"")
        self.assertEqual(sorted(os.listdir(self.folder / "a/b")), FILES)
        for name in FILES:
            if name.endswith(".svg"):
                root = xml.etree.ElementTree.parse(self.folder / "a/b" / name).getroot()
                self.assertTrue(root.tag.endswith("svg"))
                self.assertGreater(len(root.findall("{*}rect")), 1)

    def test_measurements(self):
        self.reproduce("out", "--batch", 2)
        layers, ablation = self.rows("out/layers.csv"), self.rows("out/ablation.csv")
        self.assertEqual({row["name"] for row in layers}, {"tiny:one", "tiny:two|2"})
        for row in layers + ablation:
            self.assertEqual((row["verified"], row["batch"], row["threads"]), ("full", "2", "1"))
            self.assertGreater(float(row["median_us"]), 0)
            self.assertLessEqual(float(row["max_error"]), 1)
        for name in ("tiny:one", "tiny:two|2"):
            chosen = [row for row in layers if row["name"] == name and row["chosen"] == "yes"]
            self.assertEqual(len(chosen), 1)
            ran = [row["algorithm"] for row in ablation if row["name"] == name]
            self.assertIn(ran, (VARIANTS, []))

    def test_report(self):
        self.reproduce("out", "--threads", 2)
        text = (self.folder / "out/report.md").read_text()
        self.assertIn("### batch 3, cpu, 1 thread, hot", text)
        self.assertIn("### batch 3, cpu, 2 threads, hot", text)
        self.assertIn("are a GPU's", text)
        self.assertIn("(speed-up-tiny.svg)", text)
        self.assertIn("(totals.svg)", text)
        for start in ("| one | 16 x 9 x 9, 24 of 3 x 3 | direct",
                      "| two\\|2 | 32 x 8 x 8, 40 of 1 x 1, 2 groups | direct",
                      "| automatic choice | "):
            self.assertEqual(text.count("\n" + start), 2, start)
        if self.rows("out/ablation.csv"):
            self.assertEqual(text.count("\n| tiny:one | "), 2)
            self.assertIn("### tiny, batch 3, cpu, 2 threads, hot", text)
            for name in VARIANTS:
                self.assertIn(f"\n- `{name}`: ", text)
        # A table has as many cells in each row as headings.
        width = None
        for line in text.splitlines():
            cells = line.replace("\\|", "").count("|") if line.startswith("|") else None
            self.assertIn(width if cells else cells, (cells, None), line)
            width = cells

    def test_published_ranges(self):
        table = HEAD + "alexnet,conv,1,16,6,6,8,3,3,1,1,1,0.9\n"
        self.write("mine.csv", table.encode())
        self.succeed("reproduce", "--out", "out", "--network", "mine.csv", "--device", "cpu",
                     "--min-time", 0, "--threads", 1)
        text = (self.folder / "out/report.md").read_text()
        if self.has_algorithm("openblas"):
            self.assertIn("| openblas | 1.07-1.23 (cuBLAS lowering) | 1 |", text)
        self.assertTrue((self.folder / "out/speed-up-alexnet.svg").exists())

    def test_an_existing_folder(self):
        os.mkdir(self.folder / "out")
        self.write("out/report.md", b"old")
        self.write("out/mine", b"mine")
        self.reproduce("out")
        self.assertEqual(sorted(os.listdir(self.folder / "out")), sorted(FILES + ["mine"]))
        self.assertTrue(self.read("out/report.md").startswith(b"# "))
        self.assertEqual(self.read("out/mine"), b"mine")

    def test_bad_command_lines(self):
        def refuse(where, what, *arguments):
            self.fail_with(2, where, what, "reproduce", *arguments)
        refuse("reproduce", "--out", "--network", "tiny.csv")
        refuse("no.csv", "No such file", "--out", "out", "--network", "no.csv")
        refuse("--network", "twice", "--out", "out", "--network", "tiny.csv,tiny.csv")
        refuse("--network", "at most 10", "--out", "out", "--network", ",".join("abcdefghijk"))
        refuse("--batch", "", "--out", "out", "--batch", 0)
        self.assertEqual(self.files(), ["tiny.csv"])
        refuse("--out", "needs a value", "--out", "", "--network", "tiny.csv")
        refuse("tiny.csv", "not a folder", "--out", "tiny.csv", "--network", "tiny.csv")
        refuse("tiny.csv/out", "cannot be made", "--out", "tiny.csv/out", "--network", "tiny.csv")
        os.makedirs(self.folder / "out/report.md")
        refuse("out/report.md", "cannot be written", "--out", "out", "--network", "tiny.csv")
        self.assertEqual(os.listdir(self.folder / "out"), ["report.md"])

    def test_no_cuda(self):
        if self.has_cuda():
            self.skipTest("there is a CUDA device")
        self.fail_with(3, "--device", "", "reproduce", "--out", "out", "--device", "cuda",
                       "--network", "tiny.csv")
        self.assertEqual(self.files(), ["tiny.csv"])

    def interrupt(self, out, files):
        """Sends SIGINT once the folder has so many files."""
        table = HEAD + "big,one,64,512,56,56,512,3,3,1,1,1,0.5\n"
        self.write("big.csv", table.encode())
        process = subprocess.Popen(
            [support.CSRCONV, "reproduce", "--out", out, "--network", "big.csv", "--device",
             "cpu"], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        folder = self.folder / out
        while process.poll() is None and not (folder.exists() and len(os.listdir(folder)) >= files):
            pass
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(support.TIMEOUT), -signal.SIGINT)

    def test_interrupted(self):
        os.mkdir(self.folder / "out")
        self.write("out/report.md", b"old")
        self.interrupt("out", 6)
        self.assertEqual(os.listdir(self.folder / "out"), ["report.md"])
        self.assertEqual(self.read("out/report.md"), b"old")

    def test_interrupted_in_a_new_folder(self):
        os.mkdir(self.folder / "kept")
        for out in ("new", "kept", "kept/a//b/", self.folder / "c/d"):
            self.interrupt(out, 5)
            self.assertEqual(self.files(), ["big.csv", "kept", "tiny.csv"], out)
            self.assertEqual(os.listdir(self.folder / "kept"), [])

    def test_failed_in_a_new_folder(self):
        table = HEAD + "huge,one,100000,4096,512,512,64,3,3,1,1,1,0.9\n"
        self.write("huge.csv", table.encode())
        done = self.csrconv("reproduce", "--out", "new", "--network", "huge.csv", "--device", "cpu")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(self.files(), ["huge.csv", "tiny.csv"])

    def test_help(self):
        self.assertIn(b"\n  reproduce  ", self.succeed("--help").stdout)
        self.assertIn(b"--min-time S", self.succeed("reproduce", "--help").stdout)


if __name__ == "__main__":
    support.main()
