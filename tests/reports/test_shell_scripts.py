"""The scripts of tools/gpu, as far as they get without a GPU, and tools/test.sh over builds of nothing.

usage: test_shell_scripts.py SCRIPTS_FOLDER
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(sys.argv.pop(1)).resolve()
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
