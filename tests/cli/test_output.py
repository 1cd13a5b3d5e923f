"""Outputs that cannot be written, signals in the middle, and targets that are no files."""
import os
import pathlib
import pty
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import support  # noqa: E402
from support import npy, npy_header, whole_numbers  # noqa: E402


class Outputs(support.Case):
    def setUp(self):
        super().setUp()
        self.write("x.npy", npy(whole_numbers((1, 1, 40, 40), 1)))
        self.write("w.npy", npy(whole_numbers((3, 1, 1, 1), 2)))

    def arguments(self, output):
        return ("run", "--weights", "w.npy", "--input", "x.npy", "--output", output)

    def test_no_such_folder(self):
        self.fail_with(2, "no/y.npy", "No such file", *self.arguments("no/y.npy"))
        self.fail_with(2, "", "", *self.arguments(""))
        self.fail_with(2, ".", "", *self.arguments("."))

    @unittest.skipIf(os.geteuid() == 0, "root may write to everything")
    def test_read_only(self):
        self.write("y.npy", b"old")
        os.chmod(self.folder / "y.npy", 0o444)
        self.fail_with(2, "y.npy", "Permission denied", *self.arguments("y.npy"))
        self.assertEqual(self.read("y.npy"), b"old")
        os.chmod(self.folder, 0o555)
        self.addCleanup(os.chmod, self.folder, 0o755)
        self.fail_with(2, "z.npy", "Permission denied", *self.arguments("z.npy"))

    def limited(self, output):
        """With room for 4 KiB in a file."""
        return self.csrconv(*self.arguments(output), preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (4096, 4096)))

    def test_no_space(self):
        before = self.files()
        done = self.limited("y.npy")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"\Acsrconv: y\.npy: [^\n]+\n\Z")
        self.assertEqual(self.files(), before)

    def test_the_old_file_survives(self):
        self.write("y.npy", b"old")
        before = self.files()
        self.assertEqual(self.limited("y.npy").returncode, 1)
        self.fail_with(2, "geometry", "", *self.arguments("y.npy"), "--dilation", 2, "--pad",
                       2 ** 62)
        self.assertEqual(self.read("y.npy"), b"old")
        self.assertEqual(self.files(), before)
        self.succeed(*self.arguments("y.npy"))
        self.assertEqual(self.read("y.npy")[:6], b"\x93NUMPY")
        self.assertEqual(self.files(), before)

    def test_standard_output(self):
        self.succeed(*self.arguments("y.npy"))
        done = self.succeed(*self.arguments("-"))
        self.assertEqual(done.stdout, self.read("y.npy"))
        self.assertRegex(done.stderr, r"\A(cpu|cuda)[^\n]*\n\Z")

    def test_closed_streams(self):
        """Their numbers are not given to files, into which messages would go."""
        self.succeed(*self.arguments("y.npy"))
        right = self.read("y.npy")
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            os.remove(self.folder / "y.npy")
            done = self.csrconv(*self.arguments("y.npy"),
                                preexec_fn=lambda: [os.close(stream) for stream in closed])
            self.assertEqual(done.returncode, int(1 in closed))
            self.assertEqual(self.read("y.npy"), right)
        self.fail_with(1, "-", "Bad file descriptor", "prune", "--input", "w.npy", "--output", "-",
                       "--sparsity", 0.5, preexec_fn=lambda: os.close(1))

    @unittest.skipUnless(os.path.exists("/dev/full") and
                         stat.S_ISCHR(os.stat("/dev/full").st_mode), "no /dev/full")
    def test_a_full_device(self):
        with open("/dev/full", "wb") as full:
            self.fail_with(1, "", "", "info", "--algos", stdout=full)
            self.fail_with(1, "", "", "verify", "ic1ih2oc1kh1", stdout=full)
            done = self.csrconv(*self.arguments("-"), stdout=full)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.splitlines()[-1], r"\Acsrconv: -: could not be written")

    def test_a_device_is_written_directly(self):
        """A terminal: a renamed file cannot take its place, whatever went wrong."""
        try:
            leader, follower = pty.openpty()
        except OSError as error:
            self.skipTest(f"no terminals here: {error}")
        self.addCleanup(os.close, leader)
        name = os.ttyname(follower)
        reader = threading.Thread(target=self.drain, args=(leader,), daemon=True)
        reader.start()
        self.succeed(*self.arguments(name))
        self.assertTrue(stat.S_ISCHR(os.stat(name).st_mode))
        os.close(follower)

    @staticmethod
    def drain(descriptor):
        try:
            while os.read(descriptor, 65536):
                pass
        except OSError:
            pass

    def test_a_pipe_is_written_directly(self):
        os.mkfifo(self.folder / "pipe")
        got = []
        reader = threading.Thread(target=lambda: got.append(self.read("pipe")))
        reader.start()
        self.succeed(*self.arguments("pipe"))
        reader.join()
        self.succeed(*self.arguments("y.npy"))
        self.assertEqual(got, [self.read("y.npy")])
        self.assertTrue(stat.S_ISFIFO(os.stat(self.folder / "pipe").st_mode))

    def test_a_reader_that_goes_away(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = self.csrconv(*self.arguments("-"), stdout=writer)
        os.close(writer)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.splitlines()[-1], r"\Acsrconv: -: could not be written")


class Signals(support.Case):
    def setUp(self):
        super().setUp()
        # 40 MB to write, of almost no work.
        self.write("w.npy", npy_header("<f4", (320, 1, 1, 1)) + b"\0" * 1280)
        self.write("x.npy", npy_header("<f4", (10, 1, 56, 56)) + b"\0" * 4 * 10 * 56 * 56)
        self.write("y.npy", b"old")

    def start(self, *arguments):
        return subprocess.Popen([support.CSRCONV, *arguments], cwd=self.folder,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait_for_temporary(self, process):
        """Whether a file in the making was seen before the end."""
        while process.poll() is None:
            if any(name.endswith(".tmp") for name in self.files()):
                return True
        return False

    def check_interrupted(self, sent, *arguments):
        seen = 0
        for _ in range(5):
            self.write("y.npy", b"old")
            process = self.start(*arguments)
            caught = self.wait_for_temporary(process)
            process.send_signal(sent)
            code = process.wait(support.TIMEOUT)
            self.assertIn(code, (0, -sent))
            self.assertEqual(self.files(), ["w.npy", "x.npy", "y.npy"])
            if code:
                self.assertEqual(self.read("y.npy"), b"old")
                seen += caught
        return seen

    def test_in_the_middle_of_a_write(self):
        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            seen = self.check_interrupted(sent, "run", "--weights", "w.npy", "--input", "x.npy",
                                          "--output", "y.npy")
            self.assertGreater(seen, 0, sent)

    def test_while_blocked(self):
        os.mkfifo(self.folder / "pipe")
        for sent in (signal.SIGINT, signal.SIGTERM):
            process = self.start("run", "--weights", "w.npy", "--input", "x.npy", "--output",
                                 "pipe")
            time.sleep(0.3)
            process.send_signal(sent)
            self.assertEqual(process.wait(support.TIMEOUT), -sent)
            self.assertEqual(self.files(), ["pipe", "w.npy", "x.npy", "y.npy"])

    def test_in_the_middle_of_a_bench(self):
        process = self.start("bench", "--device", "cpu", "--algo", "direct", "--csv", "y.npy",
                             "--sparsity", "0.1", "mb64ic512ih56oc512kh3ph1")
        self.assertTrue(self.wait_for_temporary(process))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(support.TIMEOUT), -signal.SIGINT)
        self.assertEqual(self.files(), ["w.npy", "x.npy", "y.npy"])
        self.assertEqual(self.read("y.npy"), b"old")


if __name__ == "__main__":
    support.main()
