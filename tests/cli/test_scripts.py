"""The scripts that measure: broken tables of theirs, and what they leave of the good ones."""
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import support  # noqa: E402

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "tools" / "scripts"
HEADER = b"name,batch,sparsity,algorithm,device,machine,math,chosen,peer_version,median_us\n"
ROW = b"map:a layer,8,0.9,cuda_jit,cuda:0,a GPU,fp32,yes,,12.5\n"
PEER = b"map:a layer,8,0.9,cudnn_tf32,cuda:0,a GPU,tf32,no,9,25\n"
BROKEN = {
    b"": "no column algorithm",
    b"\xff\xfe": "invalid start byte",
    b"name,batch\nx,1\n": "no column algorithm",
    HEADER + b"map:a layer,8\n": "line 2 has another number of fields",
    HEADER + ROW + ROW[:-1] + b",1\n": "line 3 has another number of fields",
    HEADER + ROW.replace(b"12.5", b"nan"): "line 2: median_us is 'nan'",
    HEADER + ROW.replace(b"12.5", b"0"): "line 2: median_us is '0'",
    HEADER + ROW.replace(b"12.5", b"inf"): "line 2: median_us is 'inf'",
    HEADER + ROW.replace(b",8,", b",0,"): "line 2: batch is '0'",
    HEADER + ROW.replace(b",8,", b",2147483648,"): "line 2: batch is '2147483648'",
    HEADER + ROW.replace(b"0.9", b"-0.9"): "line 2: sparsity is '-0.9'",
    HEADER + ROW.replace(b"cuda_jit", b"\x1b"): "line 2: algorithm is '\\x1b'",
    HEADER + ROW.replace(b",8,", b",1e3,"): "line 2: batch is '1e3'",
    HEADER + ROW.replace(b",8,", b"," + 5000 * b"9" + b","): "line 2: batch is '999",
    HEADER + ROW.replace(b"0.9", b"90"): "line 2: sparsity is '90'",
    HEADER + ROW.replace(b"layer", b"\x1b"): "line 2: name is 'map:a \\x1b'",
    HEADER + b'"map': "unexpected end of data",
}


class Scripts(support.Case):
    def script(self, name, *arguments):
        return subprocess.run([sys.executable, SCRIPTS / name, *map(str, arguments)], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def refuse(self, what, name, *arguments):
        """One line, and nothing else changes in the folder."""
        before = {path: (self.folder / path).is_file() and self.read(path) for path in self.files()}
        done = self.script(name, *arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(what, done.stderr)
        told = [line for line in done.stderr.splitlines()
                if not line.startswith(("device: ", "warning: "))]  # what bench tells of itself
        self.assertEqual(len(told), 1, done.stderr)
        self.assertEqual(before, {path: (self.folder / path).is_file() and self.read(path)
                                  for path in self.files()})

    def test_broken_maps(self):
        for broken, what in BROKEN.items():
            self.write("winner-map.csv", broken)
            self.refuse(f"winner-map.csv: {what}" if what[:4] == "line" else what, "winner_map.py",
                        support.CSRCONV, ".", "--draw")
        self.write("winner-map.csv", HEADER)
        self.refuse("there are no rows to draw", "winner_map.py", support.CSRCONV, ".", "--draw")
        self.refuse("there are no rows to draw", "winner_map.py", support.CSRCONV, "no", "--draw")
        self.refuse("File exists", "winner_map.py", support.CSRCONV, "winner-map.csv")

    def test_maps(self):
        self.write("winner-map.csv", HEADER + ROW + PEER)
        done = self.script("winner_map.py", support.CSRCONV, ".", "--draw")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(b">2.00 / -</text>", self.read("winner-map.svg"))
        self.assertEqual(self.files(), ["winner-map.csv", "winner-map.svg"])

    def make_data(self):
        (self.folder / "data" / "dlmc_resnet50").mkdir(parents=True)
        (self.folder / "data" / "networks").mkdir()
        self.write("data/dlmc_resnet50/manifest.csv", 
                   b"file,in_ch,in_hw,out_ch,out_hw,kh,kw,stride,pad\n")
        self.write("data/networks/layers.csv", b"net,layer,C,H,W,M\n")

    def test_broken_tables_are_not_resumed(self):
        self.make_data()
        for broken, what in BROKEN.items():
            self.write("rows.csv", broken)
            self.refuse(what, "wide_set.py", support.CSRCONV, "data", "--csv", "rows.csv", "--resume")

    def test_tables_of_other_layers_are_not_resumed(self):
        self.make_data()
        self.write("rows.csv", HEADER + ROW)
        self.refuse("batch 8, sparsity 0.9, cuda_jit has another name than what is measured here",
                    "wide_set.py", support.CSRCONV, "data", "--csv", "rows.csv", "--resume")
        self.write("rows.csv", HEADER + ROW.replace(b"map:a layer", b"alexnet:conv5"))
        self.refuse("has another batch than what is measured here", "wide_set.py", support.CSRCONV,
                    "data", "--csv", "rows.csv", "--resume", "--batch", "7")

    def choose(self, *arguments):
        """On two small layers."""
        return ("choice.py", support.CSRCONV, "--csv", "rows.csv", "--seed", "309", "--count", "2",
                "--device", "cpu", "--min-time", "0.001", "--algo", "direct", *arguments)

    def test_layers_are_resumed(self):
        """The rows have the sparsities that so few weights can have."""
        done = self.script(*self.choose("--count", "1"))
        self.assertEqual((done.returncode, done.stdout.count("rows: 3")), (0, 1), done.stderr)
        first = self.read("rows.csv")
        for again in 1, 0:
            done = self.script(*self.choose("--resume"))
            self.assertEqual((done.returncode, done.stdout.count("rows: 3")), (0, again), done.stderr)
        self.assertTrue(self.read("rows.csv").startswith(first))
        self.assertEqual(len(self.read("rows.csv").splitlines()), 1 + 6)
        self.assertEqual(self.files(), ["rows.csv"])

    def test_refused_layers_have_no_rows(self):
        """The words by which bench_rows.py tells them from a device that is not there."""
        self.write("rows.csv", b"")
        done = self.script(*self.choose("--batch", "1000000000"))
        self.assertEqual((done.returncode, done.stdout.count("rows: 0")), (1, 2), done.stderr)
        self.assertEqual(done.stderr.count("csrconv: bench: nothing ran for 3 of the points"), 2)
        self.assertIn("there are no results", done.stderr)
        self.assertEqual(self.read("rows.csv"), b"")

    def test_tables_of_other_columns_are_kept(self):
        """They are found out when the first new rows come: the old ones must still be there."""
        self.script(*self.choose("--count", "1"))
        lines = [line.split(b",") for line in self.read("rows.csv").splitlines()]
        at = lines[0].index(b"max_error")
        self.write("rows.csv", b"\n".join(b",".join(line[:at] + line[at + 1:]) for line in lines))
        self.refuse("its columns are not those", *self.choose("--resume"))


if __name__ == "__main__":
    support.main()
