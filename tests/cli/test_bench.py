"""verify, bench, compare and info: exit codes, and files that other programs can read."""
import csv
import io
import json
import os
import pathlib
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import support  # noqa: E402
from support import mtx, npy, rows_of, smtx, whole_numbers, write_npz  # noqa: E402

PROBLEM = 'mb2ic8ih9oc6oh9kh3ph1n"small"'
HEADER = (
    "name,problem,batch,sparsity,nnz,pattern,algorithm,chosen,device,math,layout,conversion,cache,"
    "threads,samples,median_us,min_us,q1_us,q3_us,prepare_us,plan_us,workspace_bytes,plan_bytes,"
    "gflops_nnz,gflops_dense,verified,max_error,machine,sm_clock_mhz,driver,version,peer_version,"
    "peer_algorithm,commit")


class Verify(support.Case):
    def last_line(self, done):
        return done.stdout.decode().splitlines()[-1]

    def test_a_problem(self):
        done = self.succeed("verify", "--device", "cpu", "--sparsity", "0.5,0.9", "--batch", "1,3",
                            "--algo", "direct", "--seed", 7, "--threads", 2, PROBLEM)
        self.assertEqual(self.last_line(done), "4 passed, 0 failed, 0 skipped")
        self.assertTrue(done.stdout.decode().startswith("device: cpu\n"))

    def test_a_list_of_problems(self):
        self.write("list", f"# two\n{PROBLEM}\n\nic4ih5oc4kh1\n".encode())
        done = self.succeed("verify", "--device", "cpu", "--algo", "direct", "@list")
        self.assertEqual(self.last_line(done), "2 passed, 0 failed, 0 skipped")

    def test_the_grid(self):
        done = self.succeed("verify", "--device", "cpu", "--algo", "direct")
        self.assertRegex(self.last_line(done), r"\A2\d\d passed, 0 failed, 0 skipped\Z")

    def test_skips_have_reasons(self):
        done = self.succeed("verify", "--device", "cpu", PROBLEM)
        for line in done.stdout.decode().splitlines()[1:-1]:
            self.assertRegex(line, r"\A(ok|skipped) +\w+ +small.*: .+\Z")

    def test_nothing_that_runs(self):
        done = self.succeed("verify", "--device", "cpu", PROBLEM).stdout.decode()
        refused = [line.split()[1] for line in done.splitlines() if line.startswith("skipped")]
        if not refused:
            self.skipTest("every algorithm of this build runs here")
        done = self.fail_with(3, "verify", "nothing ran", "verify", "--device", "cpu", "--algo",
                              refused[0], PROBLEM)
        self.assertEqual(self.last_line(done), "0 passed, 0 failed, 1 skipped")


    def test_algorithms_of_another_device(self):
        for command in ("verify", "bench"):
            if self.has_algorithm("cuda_direct"):
                self.fail_with(3, "--algo", "cuda_direct is for cuda, the device is cpu", command,
                               "--device", "cpu", "--algo", "cuda_direct", PROBLEM)
                done = self.succeed(command, "--device", "cpu", "--algo", "direct,cuda_direct",
                                    PROBLEM)
                self.assertIn("warning: cuda_direct is for cuda, the device is cpu: it is left out",
                              done.stderr)


class Bench(support.Case):
    def bench(self, *arguments):
        return self.succeed("bench", "--device", "cpu", *arguments)

    def rows(self, data):
        text = data.decode()
        self.assertEqual(text.splitlines()[0], HEADER)
        return list(csv.DictReader(io.StringIO(text)))

    def test_csv(self):
        self.bench("--sparsity", "0.5,0.9", "--threads", 1, "--csv", "b.csv", PROBLEM)
        rows = self.rows(self.read("b.csv"))
        self.assertEqual({row["sparsity"][:3] for row in rows}, {"0.5", "0.9"})
        for sparsity in ("0.5", "0.9"):
            chosen = [row for row in rows
                      if row["sparsity"].startswith(sparsity) and row["chosen"] == "yes"]
            self.assertEqual(len(chosen), 1)
        for row in rows:
            self.assertEqual(row["name"], "small")
            self.assertEqual((row["batch"], row["device"], row["verified"]), ("2", "cpu", "full"))
            self.assertLessEqual(float(row["min_us"]), float(row["median_us"]))
            self.assertLessEqual(float(row["q1_us"]), float(row["q3_us"]))
            self.assertGreater(float(row["min_us"]), 0)
            self.assertLessEqual(float(row["max_error"]), 1)

    def test_conversion_is_told_where_there_is_one(self):
        for problem, conversion in (("ic8ih9oc6oh9kh3ph1", "yes"), ("ic8ih16oc6oh16kh1", "no")):
            done = self.bench("--threads", 1, "--csv", "-", "--algo", "direct", problem)
            row, = self.rows(done.stdout)
            self.assertEqual(row["conversion"], conversion)
            self.assertEqual(float(row["prepare_us"]) > 0, conversion == "yes")

    def test_a_problem_named_by_itself_is_told_once(self):
        problem = "mb1ic4ih5oc4oh5kh1ph0"
        lines = self.succeed("bench", "--device", "cpu", "--algo", "direct", problem,
                             f'{problem}n"named"').stdout.decode().splitlines()
        self.assertIn(problem, lines)
        self.assertIn(f"named  {problem}", lines)

    def test_csv_on_standard_output(self):
        done = self.bench("--algo", "direct", "--csv", "-", PROBLEM)
        self.assertEqual(len(self.rows(done.stdout)), 1)

    def test_without_a_result_no_file(self):
        done = self.succeed("verify", "--device", "cpu", PROBLEM).stdout.decode()
        refused = [line.split()[1] for line in done.splitlines() if line.startswith("skipped")]
        if not refused:
            self.skipTest("every algorithm of this build runs here")
        self.write("old.json", b"old")
        done = self.fail_with(3, "bench", "nothing ran for 1 of the points", "bench", "--device",
                              "cpu", "--algo", refused[0], "--csv", "new.csv", "--json", "old.json",
                              PROBLEM)
        self.assertIn(refused[0], done.stdout.decode())
        self.assertEqual(self.files(), ["old.json"])
        self.assertEqual(self.read("old.json"), b"old")

    def test_json(self):
        self.bench("--algo", "direct", "--json", "b.json", PROBLEM)
        data = json.loads(self.read("b.json"))
        self.assertEqual(set(data) & {"context", "benchmarks"}, {"context", "benchmarks"})
        self.assertNotIn("host_name", data["context"])
        self.assertGreaterEqual(len(data["benchmarks"]), 1)
        for entry in data["benchmarks"]:
            self.assertGreater(entry["real_time"], 0)
            self.assertIn("name", entry)

    def test_svg(self):
        self.bench("--algo", "direct", "--sparsity", "0.5,0.8,0.9", "--svg", "b.svg", PROBLEM)
        root = xml.etree.ElementTree.fromstring(self.read("b.svg"))
        self.assertTrue(root.tag.endswith("svg"))

    def test_all_files_at_once_and_compare(self):
        for name in ("old", "new"):
            self.bench("--algo", "direct", "--csv", f"{name}.csv", "--json", f"{name}.json",
                       "--svg", f"{name}.svg", PROBLEM)
        done = self.succeed("compare", "old.csv", "new.csv")
        self.assertIn("small", done.stdout.decode())
        self.succeed("compare", "old.csv", "old.csv")
        self.assertEqual(len(self.files()), 6)

    def times(self, name, median, low, high):
        """A copy of measured.csv with other times."""
        rows = self.rows(self.read("measured.csv"))
        rows[0].update(median_us=median, min_us=low, q1_us=low, q3_us=high)
        text = io.StringIO()
        writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return self.write(name, text.getvalue().encode())

    def test_compare_goes_by_the_quartiles(self):
        """Not by the medians; ranges that touch overlap; slower is no failure."""
        self.bench("--algo", "direct", "--csv", "measured.csv", PROBLEM)
        self.times("old.csv", 15, 10, 20)
        for verdict, *times in (("faster", 6, 5, 9.99), ("same", 6, 5, 10), ("same", 11, 9, 30),
                                ("same", 25, 20, 30), ("slower", 25, 20.01, 30)):
            self.times("new.csv", *times)
            told = self.succeed("compare", "old.csv", "new.csv").stdout.decode()
            self.assertRegex(told, rf"(?m)^ .* {verdict}$", times)

    def test_compare_refuses(self):
        self.bench("--algo", "direct", "--csv", "old.csv", PROBLEM)
        self.write("empty.csv", b"")
        self.write("other.csv", b"a,b\n1,2\n")
        self.write("short.csv", self.read("old.csv")[:-30])
        for name in ("missing.csv", "empty.csv", "other.csv", "short.csv"):
            self.fail_with(2, name, "", "compare", "old.csv", name)
        self.fail_with(2, "", "", "compare", "old.csv")

    def test_weights(self):
        matrix = rows_of(whole_numbers((6, 8, 3, 3), 1, zeros=0.8))
        self.write("w.mtx", mtx(matrix))
        self.bench("--algo", "direct", "--weights", "w.mtx", "--csv", "b.csv", PROBLEM)
        row, = self.rows(self.read("b.csv"))
        self.assertEqual(int(row["nnz"]), sum(v != 0 for line in matrix for v in line))
        self.assertIn("fnv1a:", row["pattern"])
        self.write("bad.mtx", mtx([line[:-1] for line in matrix]))
        self.fail_with(2, "bad.mtx", "columns", "bench", "--weights", "bad.mtx", PROBLEM)

    def test_an_order_of_no_weights(self):
        self.fail_with(2, "--order", "--weights", "bench", "--order", "rsc", PROBLEM)

    def test_files_of_one_name(self):
        for name in ("out", "-"):
            self.fail_with(2, name, "as csv and as svg", "bench", "--csv", name, "--svg", name,
                           PROBLEM)
        self.assertEqual(self.files(), [])

    def test_unwritable_files(self):
        for flag in ("--csv", "--json", "--svg"):
            self.fail_with(2, "no/b", "No such file", "bench", "--device", "cpu", "--algo",
                           "direct", flag, "no/b", PROBLEM)


class Info(support.Case):
    def test_files(self):
        matrix = rows_of(whole_numbers((6, 8, 3, 3), 1, zeros=0.8))
        count = str(sum(v != 0 for line in matrix for v in line))
        self.write("a.npy", npy(matrix))
        self.write("a.mtx", mtx(matrix))
        self.write("a.smtx", smtx(matrix))
        write_npz(self.folder / "a.npz", matrix)
        for name in self.files():
            self.assertIn(count, self.succeed("info", name).stdout.decode())
        self.fail_with(2, "missing", "No such file", "info", "missing")
        self.fail_with(2, "info", "", "info")

    def test_lists(self):
        self.assertIn(b"direct ", self.succeed("info", "--algos").stdout)
        self.assertIn(b"cpu ", self.succeed("info", "--devices").stdout)

    def test_what_does_not_fit_costs_one_point(self):
        huge = 'mb100000ic4096ih512oc64oh512kh3ph1n"huge"'
        self.write("old.csv", b"old")
        done = self.fail_with(3, "bench", "nothing ran for 1 of the points", "bench", "--device",
                              "cpu", "--algo", "direct", "--csv", "old.csv", huge)
        self.assertIn("warning: huge: memory: the activations need ", done.stderr)
        self.assertEqual(self.read("old.csv"), b"old")
        self.fail_with(3, "bench", "nothing ran for 1 of the points", "bench", "--device", "cpu",
                       "--algo", "direct", "--csv", "new.csv", huge, PROBLEM)
        self.assertEqual(self.read("new.csv").decode().count("\nsmall,"), 1)

    def test_a_hidden_gpu(self):
        hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}
        done = self.succeed("info", "--devices", env=hidden)
        self.assertRegex(done.stdout.decode(), r"\ncuda:0  not usable: cuda:0: \S.*\n\Z")
        self.fail_with(3, "--device", "cuda:0: ", "bench", "--device", "cuda", PROBLEM, env=hidden)
        done = self.succeed("bench", "--algo", "direct", PROBLEM, env=hidden)
        self.assertIn("device: cpu\n", done.stderr)


if __name__ == "__main__":
    support.main()
