"""Bad command lines and bad files: an exit code, one line on stderr, and no output."""
import os
import pathlib
import random
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import support  # noqa: E402
from support import mtx, npy, npy_header, rows_of, smtx, whole_numbers, write_npz  # noqa: E402

COMMANDS = ("run", "verify", "bench", "prune", "info", "compare")
X = whole_numbers((1, 2, 5, 5), 1)
W = whole_numbers((3, 2, 3, 3), 2)


class CommandLine(support.Case):
    def test_help(self):
        for command in COMMANDS:
            for flag in ("--help", "-h"):
                done = self.succeed(command, flag)
                self.assertEqual(done.stderr, "")
                self.assertTrue(done.stdout.startswith(f"usage: csrconv {command}".encode()))
                self.assertIn(b"example", done.stdout)
        listed = self.succeed("--help").stdout.decode()
        for command in COMMANDS:
            self.assertRegex(listed, rf"\n  {command} +\w")
            self.assertEqual(self.succeed("help", command).stdout, self.succeed(command, "--help").stdout)
        self.assertEqual(self.succeed("help").stdout.decode(), listed)

    def test_version(self):
        self.assertRegex(self.succeed("--version").stdout, rb"\Acsrconv \d+\.\d+\.\d+\n\Z")
        self.assertRegex(self.succeed("info", "--version").stdout, rb"\d+\.\d+\.\d+")

    def test_commands(self):
        self.fail_with(2, "command line", "--help")
        self.fail_with(2, "nosuch", "no such command", "nosuch")
        self.fail_with(2, "nosuch", "no such command", "help", "nosuch")
        self.fail_with(2, "verify", "one command", "help", "bench", "verify")

    def test_unknown_options(self):
        for command in COMMANDS:
            self.fail_with(2, "--nosuch", "", command, "--nosuch")
            self.fail_with(2, "--nosuch", "", command, "--nosuch=3")
        done = self.fail_with(2, "--inptu", "", "run", "--inptu", "x")
        self.assertIn("--input", done.stderr)

    def test_values_of_options(self):
        good = ("--weights", "w", "--input", "x", "--output", "y")
        for flag, value in (("stride", "0"), ("stride", "1,2,3"), ("stride", "a"), ("pad", "-1"),
                            ("pad", "1,2,3"), ("dilation", "0"), ("groups", "0"),
                            ("groups", "1.5"), ("threads", "-1"), ("threads", "5000"),
                            ("stride", "99999999999999999999"), ("pad", "")):
            self.fail_with(2, f"--{flag}", "", "run", *good, f"--{flag}", value)
        self.fail_with(2, "--stride", "", "run", *good, "--stride")
        self.fail_with(2, "--stride", "", "run", *good, "--stride", 1, "--stride", 2)
        self.fail_with(2, "run", "needs --weights", "run", "--input", "x")

    def test_devices(self):
        problem = "ic2ih4oc2oh4kh1"
        for command in ("verify", "bench"):
            self.fail_with(2, "--device", "gpu", command, "--device", "gpu", problem)
            self.fail_with(2, "--device", "", command, "--device", "cuda:x", problem)
            if not self.has_cuda():
                self.fail_with(3, "", "cuda", command, "--device", "cuda", problem)

    def test_algorithms(self):
        for command in ("verify", "bench"):
            self.fail_with(2, "--algo", "nosuch", command, "--algo", "nosuch", "ic2ih4oc2oh4kh1")
            self.fail_with(2, "--algo", "", command, "--algo", "direct,,direct", "ic2ih4oc2oh4kh1")

    def test_problems(self):
        for command in ("verify", "bench"):
            for problem in ("nonsense", "ic2", "ic2ih4oc2kh9ph0", "ic3oc2g2ih4kh1", "@missing",
                            "ic2ih99999999999999999999oc2kh1"):
                self.fail_with(2, "", "", command, problem)
            self.fail_with(3, "", "", command, "ic2id4ih4oc2od4oh4kd1kh1")
            self.fail_with(2, "", "nosuch", command, "--network", "nosuch")
        self.fail_with(2, "bench", "", "bench")


class Refusals(support.Case):
    """Of run, whose files are all right but for what a test makes wrong."""

    def setUp(self):
        super().setUp()
        self.write("x.npy", npy(X))
        self.write("w.npy", npy(W))

    def refuse(self, code, where, what, *arguments, weights="w.npy", x="x.npy"):
        before = self.files()
        done = self.fail_with(code, where, what, "run", "--weights", weights, "--input", x,
                              "--output", "y.npy", *arguments)
        self.assertEqual(done.stdout, b"")
        self.assertEqual(self.files(), before)

    def test_missing_files(self):
        self.refuse(2, "no.npy", "No such file", weights="no.npy")
        self.refuse(2, "no.npy", "No such file", x="no.npy")
        self.refuse(2, "no.npy", "No such file", "--bias", "no.npy")
        self.refuse(2, "no.npy", "No such file", "--residual", "no.npy")
        self.refuse(2, ".", "", weights=".")

    def test_impossible_geometries(self):
        self.refuse(2, "geometry", "does not fit", "--dilation", 9)
        self.refuse(2, "geometry", "overflows", "--pad", 2 ** 63 - 1)
        self.refuse(2, "x.npy", "channels", "--groups", 2)
        self.write("w3.npy", npy(whole_numbers((3, 1, 1, 1), 1)))
        self.refuse(2, "geometry", "does not divide filters", "--groups", 2, weights="w3.npy")
        self.write("flat.npy", npy([1.0, 2.0]))
        self.refuse(2, "flat.npy", "(N, C, H, W)", x="flat.npy")
        self.write("none.npy", npy_header("<f4", (0, 2, 5, 5)))
        self.refuse(2, "", "", x="none.npy")

    def test_outputs_larger_than_memory(self):
        for pad in (2 ** 20, 2 ** 28):
            done = self.csrconv("run", "--weights", "w.npy", "--input", "x.npy", "--output",
                                "y.npy", "--pad", f"{pad},{pad}", "--stride", "1,1")
            self.assertIn(done.returncode, (1, 2), done.stderr)
            self.assertRegex(done.stderr, r"\Acsrconv: [^\n]+\n\Z")
            self.assertEqual(self.files(), ["w.npy", "x.npy"])

    def test_epilogues(self):
        self.write("b.npy", npy([1.0, 2.0]))
        self.write("r.npy", npy(whole_numbers((1, 3, 3, 2), 1)))
        self.refuse(2, "b.npy", "2 elements for 3 filters", "--bias", "b.npy")
        self.refuse(2, "r.npy", "(1, 3, 3, 3)", "--residual", "r.npy")
        for activation in ("tanh", "clamp", "clamp:", "clamp:1", "clamp:1,2,3", "clamp:a,b",
                           "clamp:nan,1"):
            self.refuse(2, "--activation", "", "--activation", activation)
        self.refuse(2, "", "empty", "--activation", "clamp:2,1")

    def test_algorithms_and_devices(self):
        self.refuse(2, "--algo", "nosuch", "--algo", "nosuch")
        self.refuse(2, "--device", "gpu", "--device", "gpu")
        self.refuse(2, "--device", "cpu:1", "--device", "cpu:1")
        if not self.has_cuda():
            self.refuse(3, "--device", "cuda:0", "--device", "cuda")

    def test_kernels_and_orders(self):
        self.write("m.npy", npy(rows_of(W)))
        self.write("p.smtx", smtx(rows_of(W)))
        self.refuse(2, "m.npy", "--kernel", weights="m.npy")
        self.refuse(2, "m.npy", "columns", "--kernel", "2,3,4", weights="m.npy")
        self.refuse(2, "--kernel", "", "--kernel", "2,3", weights="m.npy")
        self.refuse(2, "--kernel", "", "--kernel", "0,3,3", weights="m.npy")
        self.refuse(2, "--order", "", "--order", "src", weights="m.npy")
        self.refuse(2, "p.smtx", "--values", "--kernel", "2,3,3", weights="p.smtx")
        self.refuse(2, "--values", "", "--kernel", "2,3,3", "--values", "two", weights="p.smtx")
        self.refuse(2, "w.npy", "values of its own", "--values", "ones")

    def test_files_of_groups(self):
        self.write("x4.npy", npy(whole_numbers((1, 4, 5, 5), 1)))
        self.write("other.npy", npy(whole_numbers((2, 2, 3, 3), 1)))
        self.refuse(2, "--weights", "2 files for 1 groups", weights="w.npy,w.npy")
        self.refuse(2, "other.npy", "unlike the groups", "--groups", 2, weights="w.npy,other.npy",
                    x="x4.npy")
        self.refuse(2, "--weights", "", "--groups", 2, weights="w.npy,", x="x4.npy")

    def bad_weights(self, data, *arguments):
        self.write("bad", data)
        self.refuse(2, "bad", "", *arguments, weights="bad")

    def test_truncated_files(self):
        write_npz(self.folder / "w.npz", rows_of(W))
        os.rename(self.folder / "w.npz", self.folder / "z")
        whole = {"npy": npy(W), "smtx": smtx(rows_of(W)), "mtx": mtx(rows_of(W)),
                 "npz": self.read("z")}
        for name, data in whole.items():
            cuts = sorted({0, 1, 5, 9, 40, len(data) // 2, len(data) * 3 // 4, len(data) - 9})
            for cut in cuts:
                with self.subTest(format=name, bytes=cut):
                    self.bad_weights(data[:cut], "--kernel", "2,3,3", "--values", "ones")

    def test_lying_files(self):
        huge = 2 ** 40
        lies = {
            "npy of terabytes": npy_header("<f4", (huge, 2, 3, 3)) + b"\0" * 64,
            "npy that overflows": npy_header("<f4", (huge, huge, huge, huge)),
            "npy of a negative size": npy_header("<f4", (-1, 2, 3, 3)) + b"\0" * 64,
            "npy of objects": npy_header("|O", (3, 2, 3, 3)) + b"\0" * 256,
            "npy with a huge header": b"\x93NUMPY\x02\x00" + struct.pack("<I", 2 ** 32 - 1) + b"{",
            "npy with more behind": npy(W) + b"more",
            "smtx of terabytes": f"{huge}, {huge}, {huge}\n0\n0\n".encode(),
            "smtx with a column too far": b"1, 18, 1\n0 1\n18\n",
            "smtx with a column twice": b"1, 18, 2\n0 2\n3 3\n",
            "smtx that falls": b"2, 18, 2\n0 2 1\n0 1\n",
            "mtx of terabytes": b"%%MatrixMarket matrix coordinate real general\n"
                                b"1099511627776 18 1099511627776\n1 1 1\n",
            "mtx with a column too far": b"%%MatrixMarket matrix coordinate real general\n"
                                         b"3 18 1\n1 19 1\n",
            "mtx with an entry twice": b"%%MatrixMarket matrix coordinate real general\n"
                                       b"3 18 2\n1 3 1\n1 3 2\n",
            "mtx of complex numbers": b"%%MatrixMarket matrix coordinate complex general\n"
                                      b"3 18 1\n1 1 1 1\n",
        }
        for name, data in lies.items():
            with self.subTest(name):
                self.bad_weights(data, "--kernel", "2,3,3", "--values", "ones")

    def test_random_files(self):
        numbers = random.Random(5)
        starts = (b"", b"\x93NUMPY\x01\x00", b"PK\x03\x04", b"%%MatrixMarket ", b"3, 18, 9\n")
        for start in starts:
            for size in (1, 30, 1000):
                self.bad_weights(start + bytes(numbers.randrange(256) for _ in range(size)),
                                 "--kernel", "2,3,3", "--values", "ones")

    def test_names_stay_on_one_line(self):
        name = "new\nline\x1b[31m"
        done = self.csrconv("info", name)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\Acsrconv: new\?line\?\[31m: [^\n\x1b]+\n\Z")


if __name__ == "__main__":
    support.main()
