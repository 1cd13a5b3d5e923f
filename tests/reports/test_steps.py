"""The scripts that measure step by step, over a program that fails in the middle.

usage: test_steps.py SCRIPTS_FOLDER
"""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(sys.argv.pop(1)).resolve()
FAKE = pathlib.Path(__file__).parent / "fake_csrconv.py"
CHOICE = ("choice.py", "--csv", "rows.csv", "--count", "4", "--sparsity", "0.8,0.9")
MAP = ("winner_map.py", ".", "--algo", "own,other", "--peers", "dense", "--batches", "1,8",
       "--layers", "0,2", "--sparsity", "0.8,0.9")
WIDE = ("wide_set.py", "data", "--csv", "rows.csv")
CALLS = {CHOICE: 4, MAP: 8, WIDE: 12}
ROWS_OF_TWO_CALLS = {CHOICE: 8, MAP: 5, WIDE: 6}
LEFT = "out of time: {} of {} steps are left, for --resume"
PATTERNS = "data/dlmc_resnet50/manifest.csv"
LAYERS = "data/networks/layers.csv"
WEIGHTS = "data/pruned_weights/mobilenet_v1_90/b.npy"
MANIFEST = """file,in_ch,in_hw,out_ch,out_hw,kh,kw,stride,pad
rn50/a.smtx,8,7,8,7,1,1,1,0
"""
POINTWISE = """net,layer,C,H,W,M
mobilenet_v1_1x1,b,8,7,7,8
mobilenet_v1_1x1,without_weights,8,7,7,8
resnet50,b,8,7,7,8
"""


class Steps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "csrconv").write_text(f"#!{sys.executable} -IS\n" + FAKE.read_text())
        (self.folder / "csrconv").chmod(0o755)
        self.make_data()

    def make_data(self):
        for path, text in (PATTERNS, MANIFEST), (LAYERS, POINTWISE), (WEIGHTS, ""):
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text(text)

    def run_script(self, script, *arguments, code=0, **told):
        """What it prints, and the calls of bench that it made."""
        calls = self.folder / "calls"
        calls.unlink(missing_ok=True)
        name, *others = script
        done = subprocess.run([sys.executable, SCRIPTS / name, self.folder / "csrconv", *others,
                               *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False,
                              env={**os.environ, **{f"FAKE_{key}": value
                                                    for key, value in told.items()}})
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertEqual(list(self.folder.glob(".csrconv-*")), [])
        return (done.stdout + done.stderr,
                calls.read_text().splitlines() if calls.exists() else [])

    def table(self, script):
        return self.folder / ("winner-map.csv" if script == MAP else "rows.csv")

    def rows(self, script):
        with open(self.table(script), newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def whole(self, script):
        """The bytes of the CSV of a run that nothing disturbs; it leaves none."""
        _, calls = self.run_script(script)
        self.assertEqual(len(calls), CALLS[script])
        whole = self.table(script).read_bytes()
        self.table(script).unlink()
        return whole

    def test_rows_survive_a_failure_and_the_rest_is_resumed(self):
        for script, count in CALLS.items():
            whole = self.whole(script)
            told, calls = self.run_script(script, code=1, FAILS="3")
            self.assertIn("exit code 9 of ", told)
            self.assertEqual(len(calls), 3)
            cut = self.table(script).read_bytes()
            self.assertTrue(whole.startswith(cut))
            self.assertEqual(len(self.rows(script)), ROWS_OF_TWO_CALLS[script])
            _, calls = self.run_script(script, "--resume")
            self.assertEqual(len(calls), count - 2)
            self.assertEqual(self.table(script).read_bytes(), whole)
            self.assertEqual(self.run_script(script, "--resume")[1], [])
            self.assertEqual(self.table(script).read_bytes(), whole)

    def test_peers_are_measured_with_what_is_held_against_them(self):
        """A layer at a batch is kept whole, or none of it: not the peers, nor csrconv's own, alone."""
        whole = self.whole(MAP)
        for fails in "3", "4":
            self.run_script(MAP, code=1, FAILS=fails)
            self.assertEqual(len(self.rows(MAP)), ROWS_OF_TWO_CALLS[MAP])
        lines = whole.splitlines(keepends=True)
        first = slice(1, 1 + ROWS_OF_TWO_CALLS[MAP])
        for kept in b",dense,", b",own,":
            cut = lines[:1] + [line for line in lines[first] if kept in line] + lines[first.stop:]
            self.table(MAP).write_bytes(b"".join(cut))
            told, calls = self.run_script(MAP, "--resume")
            self.assertIn("6 of 8 steps are there", told)
            self.assertEqual(len(calls), 2)
            self.assertEqual(sorted(self.table(MAP).read_bytes().splitlines(keepends=True)),
                             sorted(lines))

    def test_no_time(self):
        for script, count in CALLS.items():
            told, calls = self.run_script(script, "--seconds", "0")
            self.assertIn(LEFT.format(count, count) + "\n", told)
            self.assertEqual((calls, self.table(script).exists()), ([], False))
            self.assertFalse((self.folder / "winner-map.svg").exists())

    def test_what_is_no_time(self):
        for time in ("nan", "-1", "soon"):
            told, calls = self.run_script(CHOICE, f"--seconds={time}", code=2)
            self.assertIn(f"'{time}'", told)
            self.assertEqual(calls, [])

    def test_time_for_one(self):
        """What there is is judged or drawn; the step that was begun is whole."""
        told, calls = self.run_script(CHOICE, "--seconds", "0.5", SLEEPS="0.6")
        self.assertIn(LEFT.format(3, 4), told)
        self.assertIn("on 1 of 2 points", told)
        self.assertEqual((len(calls), len(self.rows(CHOICE))), (1, 4))
        told, _ = self.run_script(CHOICE, "--resume")
        self.assertNotIn("out of time", told)
        self.assertIn("on 4 of 8 points", told)
        told, calls = self.run_script(MAP, "--seconds", "3", SLEEPS="2")
        self.assertIn(LEFT.format(6, 8), told)
        self.assertIn(">2.00 / -</text>", (self.folder / "winner-map.svg").read_text())

    def test_order_of_maps(self):
        calls = self.run_script(MAP)[1]
        asked = [call.split(" ") for call in calls]
        self.assertEqual([(words[words.index("--batch") + 1], words[words.index("--algo") + 1],
                           words[words.index("--sparsity") + 1]) for words in asked],
                         2 * [("1", "dense", "0.8"), ("1", "own,other", "0.8,0.9")]
                         + 2 * [("8", "dense", "0.8"), ("8", "own,other", "0.8,0.9")])
        self.assertEqual(["28x28" in call for call in calls], 2 * [True, True, False, False])

    def test_layers_without_rows_are_run_again(self):
        whole = self.whole(CHOICE)
        for code, told in ((0, {"REFUSES": "1.2"}), (1, {"WRONG": "1.2"})):
            for arguments, count in ((), 4), (("--resume",), 1):
                calls = self.run_script(CHOICE, *arguments, code=code, **told)[1]
                self.assertEqual(len(calls), count)
                self.assertEqual(len({row["name"] for row in self.rows(CHOICE)}), 3)
            calls = self.run_script(CHOICE, "--resume")[1]
            self.assertIn("random:1.2", calls[0])
            self.assertEqual(len(calls), 1)
            self.assertEqual(sorted(self.table(CHOICE).read_bytes()), sorted(whole))
        self.table(CHOICE).unlink()
        self.run_script(CHOICE, code=1, REFUSES="random")
        self.assertFalse(self.table(CHOICE).exists())

    def test_wrong_results(self):
        """What is right is kept, and the exit code tells."""
        for script, wrong in (CHOICE, "random:1.2"), (MAP, "28x28"), (WIDE, "alexnet"):
            count = len(self.run_script(script, code=1, WRONG=wrong)[1])
            names = {row["name"] for row in self.rows(script)}
            self.assertEqual(count, CALLS[script])
            self.assertTrue(names and not any(wrong in name for name in names))

    def test_a_lost_device_is_no_refusal(self):
        told, calls = self.run_script(WIDE, code=1, LOST="3")
        self.assertIn("no NVIDIA driver", told)
        self.assertEqual((len(calls), len({row["name"] for row in self.rows(WIDE)})), (3, 2))

    def test_new_sparsities(self):
        """All of the layer's are measured again, in the place of the old."""
        self.run_script(CHOICE, "--sparsity", "0.9")
        self.assertEqual(len(self.rows(CHOICE)), 4 * 2)
        self.assertEqual(len(self.run_script(CHOICE, "--resume")[1]), 4)
        self.assertEqual(len(self.rows(CHOICE)), 4 * 4)

    def test_more_layers(self):
        self.run_script(CHOICE)
        self.assertEqual(len(self.run_script(CHOICE, "--resume", "--count", "5")[1]), 1)

    def test_other_rows_are_not_resumed(self):
        """The exit code is that of bad files, nothing runs, and the CSV stays."""
        others = {CHOICE: {"name": ("--seed", "2"), "batch": ("--batch", "2"),
                           "sparsity": ("--sparsity", "0.8"), "algorithm": ("--algo", "other")},
                  MAP: {"name": ("--layers", "0"), "batch": ("--batches", "8"),
                        "sparsity": ("--sparsity", "0.9,0.8"), "algorithm": ("--peers", "cudnn")},
                  WIDE: {"batch": ("--batch", "2"), "algorithm": ("--algo", "own")}}
        for script, columns in others.items():
            self.run_script(script)
            before = self.table(script).read_bytes()
            for column, arguments in columns.items():
                told, calls = self.run_script(script, "--resume", *arguments, code=2)
                self.assertIn(f" has another {column} than what is measured here\n", told)
                self.assertEqual((calls, self.table(script).read_bytes()), ([], before))

    def test_rows_of_another_origin_are_not_resumed(self):
        """Neither those that come nor those that are there mix."""
        here = "device cuda:0, machine Example GPU, commit 1"
        self.run_script(CHOICE, code=1, FAILS="3")
        before = self.table(CHOICE).read_bytes()
        for told, other in (({"DEVICE": "cpu"}, "device cpu, machine Example GPU, commit 1"),
                            ({"COMMIT": "2"}, "device cuda:0, machine Example GPU, commit 2")):
            first, second = sorted((here, other))
            text, calls = self.run_script(CHOICE, "--resume", code=2, **told)
            self.assertIn(f"2 of 4 steps are there, of {here}\n", text)
            self.assertIn(f"would have rows of {first} beside those of {second}\n", text)
            self.assertEqual((len(calls), self.table(CHOICE).read_bytes()), (1, before))
        self.table(CHOICE).write_bytes(before.removesuffix(b"1\n") + b"2\n")
        text, calls = self.run_script(CHOICE, "--resume", code=2)
        self.assertIn("commit 1 beside those of", text)
        self.assertEqual(calls, [])

    def test_wrong_arguments(self):
        """Each is named, and nothing runs."""
        for script, arguments, said in (
                (CHOICE, ("--count", "0"), "'0' is no whole number from 1 to 100000"),
                (CHOICE, ("--count", "9" * 20), "999' is no whole number from 1 to"),
                (CHOICE, ("--batch", "0"), "'0' is no whole number from 1 to 2147483647"),
                (CHOICE, ("--batch", "2147483648"), "'2147483648' is no whole number from 1 to"),
                (CHOICE, ("--threads", "1,2"), "'1,2' is no whole number from 0 to 4096"),
                (CHOICE, ("--threads", "4097"), "'4097' is no whole number from 0 to 4096"),
                (CHOICE, ("--threads", "+1"), "'+1' is no whole number"),
                (CHOICE, ("--device", "gpu"), "'gpu' is not auto, cpu, cuda or cuda:N"),
                (CHOICE, ("--device", "cpu:0"), "'cpu:0' is not auto, cpu, cuda or cuda:N"),
                (CHOICE, ("--device", "cuda:x"), "'x' is no whole number from 0 to 1023"),
                (CHOICE, ("--device", "cuda:1024"), "'1024' is no whole number from 0 to 1023"),
                (CHOICE, ("--sparsity", "0.9,1.5"), "from 0 to 1"),
                (CHOICE, ("--sparsity=-0.1,0.9",), "from 0 to 1"),
                (CHOICE, ("--sparsity", "0.9,0.91"), "0.9 and 0.91 are"),
                (MAP, ("--sparsity", "0.9,0.9"), "'0.9,0.9' has a number twice"),
                (MAP, ("--batches", "1,0"), "'0' is no whole number from 1 to 2147483647"),
                (MAP, ("--batches", "1,2147483648"), "'2147483648' is no whole number"),
                (MAP, ("--batches", "8,1,08"), "'8,1,08' has a number twice"),
                (MAP, ("--layers", "0,1,0"), "'0,1,0' has a number twice"),
                (MAP, ("--layers", "4"), "'4' is no whole number from 0 to 3"),
                (MAP, ("--layers=-1",), "'-1' is no whole number from 0 to 3"),
                (MAP, ("--layers", ""), "'' is no whole number from 0 to 3"),
                (MAP, ("--layers", "0,"), "'' is no whole number from 0 to 3"),
                (MAP, ("--layers", "x"), "'x' is no whole number from 0 to 3"),
                (MAP, ("--algo", ""), "want names"),
                (MAP, ("--peers", ""), "want names")):
            with self.subTest(arguments=arguments):
                told, calls = self.run_script(script, *arguments, code=2)
                self.assertIn(said, told)
                self.assertEqual(calls, [])

    def test_right_arguments(self):
        """As they are given, to the program."""
        script = CHOICE[:3] + ("--count", "1")
        for name, values in {"--threads": ("0", "4096"), "--batch": ("1", "2147483647"),
                             "--device": ("cpu", "cuda", "cuda:1023", "auto")}.items():
            for value in values:
                calls = self.run_script(script, "--algo", "own", name, value)[1]
                self.assertIn(f"{name} {value} ", calls[0])

    def test_broken_data_of_the_wide_set(self):
        """One sentence names the file, and the line; nothing runs."""
        row = MANIFEST.splitlines()[1]
        for path, text, said in (
                (PATTERNS, MANIFEST.replace(row, "rn50/a.smtx,8"), "line 2 has another number of"),
                (PATTERNS, f"{MANIFEST}{row},1", "line 3 has another number of fields"),
                (PATTERNS, "file\nrn50/a.smtx\n", "there is no column in_ch"),
                (PATTERNS, "\xff", "invalid start byte"),
                (PATTERNS, f'{MANIFEST}"rn50', "unexpected end of data"),
                (LAYERS, None, "No such file or directory"),
                (LAYERS, "layer,C,H,W,M,net\na,8,7,7,8\n", "line 2 has another number of fields")):
            with self.subTest(said=said):
                self.make_data()
                (self.folder / path).unlink()
                if text is not None:
                    (self.folder / path).write_text(text, encoding="latin-1")
                told, calls = self.run_script(WIDE, code=2)
                self.assertRegex(told, rf"\A[^\n]*: {path}: [^\n]*{said}[^\n]*\n\Z")
                self.assertEqual(calls, [])

    def test_a_link_leads_to_the_rows_and_keeps_doing_so(self):
        (self.folder / "elsewhere").mkdir()
        target = self.folder / "elsewhere" / "rows.csv"
        self.table(CHOICE).symlink_to(target)
        self.run_script(CHOICE)
        self.assertTrue(self.table(CHOICE).is_symlink())
        self.assertEqual(len(self.rows(CHOICE)), 4 * 4)
        self.assertEqual([path.name for path in target.parent.iterdir()], ["rows.csv"])

    def test_what_is_no_file_stays(self):
        os.mkfifo(self.table(CHOICE))
        told, calls = self.run_script(CHOICE, code=2)
        self.assertIn("rows.csv: is no regular file", told)
        self.assertTrue(self.table(CHOICE).is_fifo())
        self.assertEqual(calls, [])
        (self.folder / "winner-map.svg").mkdir()
        told, calls = self.run_script(MAP, code=2)
        self.assertIn("winner-map.svg: is no regular file", told)
        self.assertEqual(calls, [])

    def test_programs_that_do_nothing(self):
        """No program, one that knows no algorithm, and one that writes no rows."""
        program = self.folder / "csrconv"
        told, calls = self.run_script(WIDE, code=1, EMPTY="1")
        self.assertIn("exit code 0 of ", told)
        self.assertEqual(len(calls), 1)
        program.write_text("#!/bin/sh\n")
        told, _ = self.run_script(CHOICE, code=1)
        self.assertIn("info --algos tells no algorithms", told)
        program.unlink()
        told, _ = self.run_script(CHOICE, code=1)
        self.assertIn(f"{program}: No such file or directory", told)

    def test_all_algorithms(self):
        self.run_script((*CHOICE, "--algo", "all"))
        self.assertEqual(self.run_script((*CHOICE, "--algo", "all"), "--resume")[1], [])

    def test_without_resume_all_is_measured_again(self):
        self.run_script(CHOICE)
        self.assertEqual(len(self.run_script(CHOICE)[1]), 4)
        self.assertEqual(len(self.rows(CHOICE)), 4 * 4)


if __name__ == "__main__":
    unittest.main()
