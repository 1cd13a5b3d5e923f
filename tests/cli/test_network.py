"""bench of whole networks, measured choices, and choices that are kept in files."""
import csv
import io
import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import support  # noqa: E402
from model_files import conv_model, tensor  # noqa: E402
from model_support import DIMS, INPUT, WEIGHTS  # noqa: E402

TABLE = """net,layer,N_default,C,H,W,M,R,S,pad_h,pad_w,sparsity
tiny,conv1,1,3,9,9,8,3,3,1,1,0.6
tiny,conv2,1,8,9,9,6,1,1,0,0,0.8
"""
PROBLEM = 'mb1ic8ih9oc6oh9kh3ph1n"small"'
SINGLE = ("--device", "cpu", "--threads", 1)


def read_terminal(terminal):
    """All that is written to it, until the last that has it open closes it."""
    parts = []
    try:
        while part := terminal.read(4096):
            parts.append(part)
    except OSError:  # how Linux tells the end
        pass
    return b"".join(parts).decode()


class Measured(support.Case):
    def bench(self, *arguments):
        return self.succeed("bench", *SINGLE, *arguments)

    def rows(self, name):
        return list(csv.DictReader(io.StringIO(self.read(name).decode())))


class Network(Measured):
    def setUp(self):
        super().setUp()
        self.write("tiny.csv", TABLE.encode())

    def test_layers_as_one(self):
        done = self.bench("--network", "tiny.csv", "--graph", "--algo", "direct", "--csv", "b.csv",
                          "--json", "b.json", "--svg", "b.svg")
        self.assertIn("warning: a CPU has no graphs: the layers run one behind the other\n",
                      done.stderr)
        self.assertIn("sum of layers us", done.stdout.decode())
        rows = self.rows("b.csv")
        self.assertEqual([row["algorithm"] for row in rows], ["auto", "direct"])
        self.assertEqual([row["chosen"] for row in rows], ["yes", "no"])
        singly = self.nonzeros_of_layers()
        for row in rows:
            self.assertEqual((row["name"], row["problem"]), ("tiny:graph", "2 layers"))
            self.assertEqual((row["batch"], row["cache"], row["verified"]), ("1", "hot", "full"))
            self.assertEqual(int(row["nnz"]), singly)
            self.assertAlmostEqual(float(row["sparsity"]), 1 - singly / (8 * 27 + 6 * 8), places=5)
            self.assertGreater(float(row["median_us"]), 0)
            self.assertLessEqual(float(row["max_error"]), 1)
        for entry in json.loads(self.read("b.json"))["benchmarks"]:
            if entry["run_type"] == "iteration":
                self.assertGreater(entry["layers_us"], 0)
                self.assertGreater(entry["estimate_us"], 0)
        self.assertIn("tiny:graph", self.succeed("compare", "b.csv", "b.csv").stdout.decode())

    def nonzeros_of_layers(self):
        self.bench("--network", "tiny.csv", "--algo", "direct", "--csv", "layers.csv")
        rows = self.rows("layers.csv")
        self.assertEqual(len(rows), 2)
        return sum(int(row["nnz"]) for row in rows)

    def test_lists_of_points(self):
        self.bench("--network", "tiny.csv", "--graph", "--algo", "direct", "--batch", "1,2",
                   "--sparsity", "0.5,0.75", "--cold", "--csv", "b.csv")
        points = {(row["algorithm"], row["batch"], row["sparsity"], row["cache"])
                  for row in self.rows("b.csv")}
        self.assertEqual(len(points), 2 * 2 * 2 * 2)

    def test_one_that_refuses_a_layer(self):
        if not self.has_algorithm("onednn_wino"):
            self.skipTest("no onednn_wino in this build")
        done = self.bench("--network", "tiny.csv", "--graph", "--algo", "onednn_wino,direct",
                          "--csv", "b.csv")
        self.assertRegex(done.stdout.decode(), r"onednn_wino +skipped: tiny:conv\d: \S")
        self.assertEqual([row["algorithm"] for row in self.rows("b.csv")], ["auto", "direct"])

    def test_layers_of_one_batch(self):
        self.write("two.csv", TABLE.replace("conv2,1", "conv2,3").encode())
        self.fail_with(2, "--graph", "tiny:conv2 has a batch of 3, tiny:conv1 of 1", "bench",
                       *SINGLE, "--network", "two.csv", "--graph")
        self.bench("--network", "two.csv", "--graph", "--algo", "direct", "--batch", 2)

    def test_layers_of_no_network(self):
        self.bench("--graph", "--algo", "direct", "--csv", "b.csv", PROBLEM, "ic4ih5oc4kh1",
                   "--batch", 1)
        self.assertEqual({row["name"] for row in self.rows("b.csv")}, {"layers:graph"})

    def test_a_model(self):
        self.write("m.onnx", conv_model([tensor("w", DIMS, WEIGHTS)], dims=INPUT))
        self.bench("m.onnx", "--graph", "--algo", "direct", "--csv", "b.csv")
        rows = self.rows("b.csv")
        self.assertEqual({row["name"] for row in rows}, {"m:graph"})
        self.assertEqual({row["pattern"][:6] for row in rows}, {"fnv1a:"})

    def steps(self, *arguments):
        """What the progress bar shows of each step: how many are done, of how many, and the next."""
        ours, its = pty.openpty()
        with open(ours, "rb", buffering=0) as terminal:
            with subprocess.Popen([support.CSRCONV, "bench", *map(str, SINGLE), "--algo", "direct",
                                   "--min-time", "0", *arguments], cwd=self.folder, stderr=its,
                                  stdout=subprocess.DEVNULL) as program:
                os.close(its)
                shown = read_terminal(terminal)
        self.assertIn(program.returncode, (0, 3), shown)
        return [(int(done), int(total), name) for done, total, name in
                re.findall(r"\] (\d+)/(\d+) [^\r]* left  tiny:(conv\d)", shown)]

    def test_progress(self):
        """Each layer is told when it is made and when it is verified, by each team."""
        self.assertEqual(self.steps("--network", "tiny.csv", "--graph"),
                         [(i, 4, f"conv{i % 2 + 1}") for i in range(4)])
        self.assertEqual(self.steps("--network", "tiny.csv", "--graph", "--batch", "1,2",
                                    "--threads", "2"),  # beside SINGLE's one
                         [(i, 12, f"conv{i % 2 + 1}") for i in range(12)])

    def test_progress_behind_what_does_not_fit(self):
        self.assertEqual(self.steps("--network", "tiny.csv", "--graph", "--batch", "1000000000,1"),
                         [(0, 8, "conv1")] + [(i, 8, f"conv{i % 2 + 1}") for i in range(4, 8)])

    def test_what_does_not_fit(self):
        huge = 'mb100000ic4096ih512oc64oh512kh3ph1n"net:huge"'
        done = self.fail_with(3, "bench", "nothing ran for 1 of the points", "bench", *SINGLE,
                              "--graph", "--algo", "direct", huge)
        self.assertIn("warning: net:graph: memory: the activations need ", done.stderr)


class Choices(Measured):
    def chosen(self):
        return [row["algorithm"] for row in self.rows("b.csv") if row["chosen"] == "yes"]

    def save(self, *arguments):
        """The lines of a file of choices, without the first, which says what they are."""
        self.bench("--algo", "direct", "--save-choices", "c.txt", *arguments)
        first, *lines = self.read("c.txt").decode().splitlines()
        self.assertTrue(first.startswith("# "))
        return lines

    def test_measured_ones(self):
        line, = self.save("--tune", PROBLEM)
        choice, layer = line.split("\t")
        self.assertEqual(layer, "small")
        self.assertTrue(choice.startswith("direct"))
        self.bench("--load-choices", "c.txt", "--csv", "b.csv", PROBLEM)
        self.assertEqual(self.chosen(), [choice.split(";")[0]])

    def test_what_is_kept_is_taken(self):
        line, = self.save(PROBLEM)
        algorithm, rest = line.split("; ", 1)
        self.write("slow.txt", f"direct; {rest}\n".encode())
        self.bench("--load-choices", "slow.txt", "--save-choices", "again.txt", "--csv", "b.csv",
                   PROBLEM)
        self.assertEqual(self.chosen(), ["direct"])
        self.assertIn(f"\ndirect; {rest}\n", self.read("again.txt").decode())
        self.bench("--csv", "b.csv", PROBLEM)
        self.assertEqual(self.chosen(), [algorithm])

    def test_each_point_has_its_own(self):
        lines = self.save("--batch", "1,2", PROBLEM, 'ic4ih5oc4kh1n"other"')
        self.assertEqual(len(set(lines)), 4)
        done = self.bench("--algo", "direct", "--load-choices", "c.txt", "--batch", "2,1", PROBLEM)
        self.assertNotIn("choice", done.stderr)

    def test_what_does_not_fit_is_told(self):
        self.save(PROBLEM)
        for why, *arguments in (
                ("the saved choice is for another geometry", "--batch", 2, PROBLEM),
                ("the saved choice is for weights with other nonzeros", "--seed", 2, PROBLEM),
                ("there is none of this layer", 'ic4ih5oc4kh1n"other"')):
            done = self.bench("--algo", "direct", "--load-choices", "c.txt", "--csv", "b.csv",
                              *arguments)
            self.assertIn(": no saved choice fits: " + why, done.stderr)
            self.assertEqual(len(self.rows("b.csv")), 1)

    def test_bad_files(self):
        for name, data, what in (("missing", None, "No such file"),
                                 ("words", b"# a comment\n\nno tab\n", "line 3 is no choice"),
                                 ("half", b"direct\t\n", "line 1 is no choice"),
                                 ("other", b"\tsmall\n", "line 1 is no choice"),
                                 ("bytes", b"direct\0\tsmall\n", "NUL")):
            if data is not None:
                self.write(name, data)
            self.fail_with(2, name, what, "bench", *SINGLE, "--load-choices", name, PROBLEM)

    def test_files_that_cannot_be(self):
        self.fail_with(2, "x", "as csv and as choices", "bench", *SINGLE, "--csv", "x",
                       "--save-choices", "x", PROBLEM)
        self.fail_with(2, "no/c", "No such file", "bench", *SINGLE, "--save-choices", "no/c",
                       PROBLEM)


if __name__ == "__main__":
    support.main()
