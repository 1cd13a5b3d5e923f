"""Model files in every form, what bench makes of them, and files that lie."""
import pathlib
import re
import resource
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import support  # noqa: E402
from model_files import (BFLOAT16, DOUBLE, FLOAT, FLOAT16, INT64, conv_model,  # noqa: E402
                         external, graph, node, number, onnx, pack, part,
                         raw_safetensors, read_safetensors, safetensors, sparse,
                         tensor, value_info)
from model_support import DIMS, INPUT, MNIST, WEIGHTS, Models, smallest_zeroed  # noqa: E402


class Reading(Models):
    def test_every_kind_of_data(self):
        for kind in (FLOAT, FLOAT16, BFLOAT16, DOUBLE):
            for form in ("raw", "packed", "loose"):
                self.write("m.onnx", conv_model([tensor("w", DIMS, WEIGHTS, kind, form)],
                                                dims=INPUT))
                shown = self.info("m.onnx")
                self.assertIn(f"{sum(x != 0 for x in WEIGHTS)} nonzeros of 72", shown)
                if kind != BFLOAT16:
                    self.assertEqual(self.weights_of("m.onnx")["w"], WEIGHTS, (kind, form))

    def test_sparse_initializers(self):
        places = [5, 17, 70]
        indices = [(p // 18, p // 9 % 2, p // 3 % 3, p % 3) for p in places]
        want = [0.0] * 72
        for place, value in zip(places, (1.5, -2, 3)):
            want[place] = value
        for linear in (True, False):
            self.write("m.onnx", conv_model(sparses=[
                sparse("w", DIMS, places if linear else indices, [1.5, -2, 3], linear=linear)],
                dims=INPUT))
            self.assertIn("3 nonzeros of 72", self.info("m.onnx"))
            self.prune("m.onnx", "p.onnx", "--sparsity", 70 / 72)
            self.assertIn("2 nonzeros of 72", self.info("p.onnx"))
            self.prune("m.onnx", "m.safetensors", "--sparsity", 0, "--csr")
            tensors, metadata = read_safetensors(self.read("m.safetensors"))
            self.assertEqual(metadata, {"w.shape": "4,2,3,3"})
            self.assertEqual(struct.unpack("<5q", tensors["w.indptr"][2]), (0, 2, 2, 2, 3))
            self.assertEqual(struct.unpack("<3i", tensors["w.indices"][2]), (5, 17, 16))
            self.assertEqual(struct.unpack("<3f", tensors["w.values"][2]), (1.5, -2, 3))

    def test_external_data(self):
        self.write("w.bin", b"head" + pack(WEIGHTS))
        (self.folder / "more").mkdir()
        self.write("more/w.bin", pack(WEIGHTS))
        for location, offset, length in (("w.bin", 4, 288), ("w.bin", 4, None),
                                         ("more/w.bin", None, None), ("./more//w.bin", 0, 288)):
            self.write("m.onnx", conv_model([external("w", DIMS, FLOAT, location, offset, length)],
                                            dims=INPUT))
            self.assertEqual(self.weights_of("m.onnx")["w"], WEIGHTS)
        self.prune("m.onnx", "more/p.onnx", "--sparsity", 0.5)  # needs the other file no more
        (self.folder / "more" / "w.bin").unlink()
        self.assertEqual(self.weights_of("more/p.onnx")["w"], smallest_zeroed(WEIGHTS, 36))

    def test_external_data_of_other_tensors(self):
        """A type that is not looked at, and the indices of a sparse tensor, move in as well."""
        int8 = 3
        self.write("q.bin", b"..\1\2\3")
        self.write("i.bin", struct.pack("<2q", 0, 8))
        quantized = external("q", [3], int8, "q.bin", 2, 3)
        nodes = [node("Conv", ["x", "w"], ["y"], "conv"), node("Odd", ["y", "q"], ["z"])]
        weights = (part(1, tensor("w", [2], [1, 2])) + part(2, external("", [2], INT64, "i.bin")) +
                   b"".join(number(3, d) for d in [1, 1, 3, 3]))
        self.write("m.onnx", onnx(graph(nodes, [quantized], [value_info("x", [1, 1, 4, 4])],
                                        sparses=[weights])))
        self.prune("m.onnx", "p.onnx", "--sparsity", 0)
        (self.folder / "q.bin").unlink()
        (self.folder / "i.bin").unlink()
        self.assertIn(part(9, b"\1\2\3"), self.read("p.onnx"))
        self.assertNotIn(b".bin", self.read("p.onnx"))
        self.assertIn("2 nonzeros of 9", self.info("p.onnx"))

    def test_external_data_elsewhere(self):
        self.write("secret.bin", pack(WEIGHTS))
        (self.folder / "in").mkdir()
        (self.folder / "in" / "link.bin").symlink_to("../secret.bin")
        (self.folder / "in" / "up").symlink_to("..")
        cases = (("../secret.bin", "outside of the model's folder"),
                 (str(self.folder / "secret.bin"), "outside of the model's folder"),
                 ("a/../../secret.bin", "outside of the model's folder"),
                 ("link.bin", "symbolic link"), ("up/secret.bin", ""), ("absent.bin", "No such"),
                 (".", "no regular file"), ("", "outside"))
        for location, what in cases:
            self.write("in/m.onnx", conv_model([external("w", DIMS, FLOAT, location)], dims=INPUT))
            self.fail_with(2, "in/m.onnx: its external data in", what, "info", "in/m.onnx")
        with open(self.folder / "in" / "large.bin", "wb") as file:
            file.truncate(1 << 42)  # takes no room on the disk
        self.write("in/m.onnx", conv_model([external("w", DIMS, FLOAT, "large.bin", 0, 288)]))
        self.fail_with(2, "in/m.onnx", "larger than the memory", "info", "in/m.onnx")
        self.write("in/short.bin", b"1234")
        self.write("in/m.onnx", conv_model([external("w", DIMS, FLOAT, "short.bin", 2, 288)]))
        self.fail_with(2, "in/m.onnx", "beyond the end of short.bin", "info", "in/m.onnx")

    def test_a_safetensors_csr(self):
        parts = {"w.indptr": ("I32", [3], struct.pack("<3i", 0, 1, 3)),
                 "w.indices": ("I64", [3], struct.pack("<3q", 4, 0, 8)),
                 "w.values": ("F16", [3], struct.pack("<3e", 1, 2, 3))}
        self.write("m.safetensors", safetensors(parts, {"w.shape": "2,1,3,3", "format": "pt"}))
        shown = self.info("m.safetensors")
        self.assertIn("1 tensors of 18 elements", shown)
        self.assertIn("3 nonzeros of 18", shown)
        self.prune("m.safetensors", "same.safetensors", "--sparsity", 0.8)
        self.assertEqual(self.read("m.safetensors"), self.read("same.safetensors"))
        self.prune("m.safetensors", "p.safetensors", "--sparsity", 16 / 18)
        tensors, metadata = read_safetensors(self.read("p.safetensors"))
        self.assertEqual(metadata, {"w.shape": "2,1,3,3", "format": "pt"})
        self.assertEqual(struct.unpack("<3q", tensors["w.indptr"][2]), (0, 0, 2))
        self.assertEqual(struct.unpack("<2i", tensors["w.indices"][2]), (0, 8))
        self.assertEqual(struct.unpack("<2e", tensors["w.values"][2]), (2, 3))


class Benching(Models):
    def test_the_weights_are_the_models(self):
        self.write("net.onnx", conv_model([tensor("w", DIMS, WEIGHTS)], dims=INPUT))
        shown = self.succeed("bench", "net.onnx", "--algo", "direct").stdout.decode()
        self.assertIn("net:conv", shown)
        self.assertRegex(shown, r"5\.556 % zeros, 68 nonzeros \(fnv1a:[0-9a-f]{16}\)")
        shown = self.succeed("bench", "net.onnx", "--algo", "direct", "--sparsity", "0,0.5",
                             "--batch", 2).stdout.decode()
        self.assertRegex(shown, r"batch 2[^\n]*68 nonzeros \(fnv1a:[0-9a-f]{16}\)\n")
        self.assertRegex(shown, r"36 nonzeros \(fnv1a:[0-9a-f]{16}\+magnitude\)")
        self.assertNotIn("verdict", shown)
        self.succeed("verify", "net.onnx", "--algo", "direct")

    def test_batch_normalization(self):
        nodes = [node("Conv", ["x", "w"], ["a"], "conv"),
                 node("BatchNormalization", ["a", "s", "s", "s", "v"], ["y"], epsilon=0.0)]
        self.write("net.onnx", onnx(graph(
            nodes, [tensor("w", [2, 2, 1, 1], [1, 2, 3, 4]), tensor("s", [2], [0, 2]),
                    tensor("v", [2], [1, 4])], [value_info("x", INPUT)])))
        run = ("bench", "net.onnx", "--algo", "direct")
        self.assertIn(" 4 nonzeros", self.succeed(*run).stdout.decode())
        folded = self.succeed(*run, "--fold-bn").stdout.decode()
        self.assertIn(" 2 nonzeros", folded)  # the first filter's scale is 0
        nodes[1] = node("BatchNormalization", ["a", "s", "s", "s", "v"], ["y"], training_mode=1)
        self.write("net.onnx", onnx(graph(
            nodes, [tensor("w", [2, 2, 1, 1], [1, 2, 3, 4]), tensor("s", [2], [0, 2]),
                    tensor("v", [2], [1, 4])], [value_info("x", INPUT)])))
        self.assertIn(" 4 nonzeros", self.succeed(*run, "--fold-bn").stdout.decode())

    def test_a_verdict(self):
        self.write("net.onnx", onnx(graph(
            [node("Conv", ["x", "w"], ["a"], "one"), node("Conv", ["x", "w"], ["b"], "two")],
            [tensor("w", DIMS, WEIGHTS)], [value_info("x", INPUT)])))
        if not self.has_algorithm("openblas"):
            self.skipTest("this build has no dense peer")
        shown = self.succeed("bench", "net.onnx", "--algo", "direct,openblas", "--device",
                             "cpu").stdout.decode()
        self.assertRegex(shown, r"\nverdict: sparse is faster on \d of 2 convolutions")

    def test_a_verdict_for_every_sparsity(self):
        """Whole weights do not meet it to the digit, and a layer may have more zeros already."""
        few = [float(i % 9 == 0) for i in range(72)]
        self.write("net.onnx", onnx(graph(
            [node("Conv", ["x", "w"], ["a"], "one"), node("Conv", ["x", "v"], ["b"], "two"),
             node("Conv", ["x", "u"], ["c"], "three")],
            [tensor("w", DIMS, WEIGHTS), tensor("v", [1, 2, 1, 5], [1.0] * 10),
             tensor("u", DIMS, few)], [value_info("x", INPUT)])))
        if not self.has_algorithm("openblas"):
            self.skipTest("this build has no dense peer")
        shown = self.succeed("bench", "net.onnx", "--algo", "direct,openblas", "--device", "cpu",
                             "--sparsity", "0.25,0.55,0.95").stdout.decode()
        for percent in (25, 55, 95):
            self.assertEqual(len(re.findall(rf"\n3 layers, .*, {percent} %\n", shown)), 1, shown)
            self.assertEqual(len(re.findall(
                rf"\nverdict at {percent} %, batch 1: sparse is faster on \d of 3 ", shown)), 1)

    def test_what_cannot_be_benched(self):
        self.write("m.safetensors", safetensors({"w": ("F32", DIMS, pack(WEIGHTS))}))
        self.fail_with(2, "m.safetensors", "no graph", "bench", "m.safetensors")
        self.write("list.txt", b"mb1ic1ih3oc1oh3kh1\n")
        self.fail_with(2, "list.txt", "@FILE", "bench", "list.txt")
        self.write("m.onnx", onnx(graph([node("Relu", ["x"], ["y"])], (), [value_info("x", [1])])))
        self.fail_with(2, "m.onnx", "no convolution", "bench", "m.onnx")
        self.write("m.onnx", conv_model([tensor("w", DIMS, WEIGHTS)], dims=(1 << 40, 2, 8, 8)))
        done = self.fail_with(3, "bench", "nothing ran for 1 of the points", "bench", "m.onnx",
                              "--algo", "direct", "--device", "cpu")
        self.assertRegex(done.stderr, r"warning: m:conv: memory: the activations need \S+ GB\n")
        self.assertIn("direct", self.succeed("bench", "m.onnx", "--algo", "direct", "--device",
                                             "cpu", "--batch", 1).stdout.decode())
        self.fail_with(2, "--fold-bn", "MODEL", "bench", "--fold-bn", "--network", "alexnet")


class Lies(Models):
    def refuse(self, name, content, what):
        self.write(name, content)
        self.fail_with(2, f"{name}: ", what, "info", name)

    def test_onnx(self):
        weights = tensor("w", DIMS, WEIGHTS)
        whole = conv_model([weights], dims=INPUT)
        relu = node("Relu", ["x"], ["y"])
        for size in range(2, len(whole)):
            done = self.csrconv("info", self.write("t.onnx", whole[:size]))
            self.assertEqual(done.returncode, 2, (size, done.stderr))
        for content, what in (
                (whole[:200], "truncated or damaged"),
                (onnx(graph([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"])])), "cycle"),
                (onnx(graph([node("Relu", ["a"], ["a"])])), "cycle"),
                (onnx(graph([relu, relu])), "two things make the value y"),
                (onnx(graph([node("Relu", ["x"], ["x"])], (), [value_info("x", [1])])), "two things"),
                (onnx(graph([node("Relu", ["x"], ["w"])], [weights])), "two things"),
                (conv_model([weights, weights]), "two tensors have the name w"),
                (conv_model([tensor("w", [1 << 40, 1 << 40], [1])]), "too large"),
                (conv_model([tensor("w", [1 << 40], [1])]), "1 elements, its shape is"),
                (conv_model([tensor("w", [1 << 40], [1], form="packed")]), "1 elements"),
                (conv_model([tensor("w", [-1], [1])]), "dimension -1"),
                (conv_model([tensor("w", [1] * 9, [1])]), "more than 8 dimensions"),
                (conv_model([tensor("w", [5], [1] * 4)]), "4 elements"),
                (conv_model([weights + part(4, pack(WEIGHTS))]), "twice"),
                (conv_model([tensor("", DIMS, WEIGHTS)]), "no name"),
                (conv_model(sparses=[sparse("w", [1 << 20, 1 << 30], [0], [1])]), "too many"),
                (conv_model(sparses=[sparse("w", [1 << 21, 1], [0], [1])] * 3), "too many"),
                (conv_model(sparses=[sparse("w", [4, 4], [16], [1])]), "out of range"),
                (conv_model(sparses=[sparse("w", [4, 4], [3, 3], [1, 2])]), "doubled"),
                (conv_model(sparses=[sparse("w", [4, 4], [(0, 4)], [1], linear=False)]),
                 "out of range"),
                (conv_model(sparses=[sparse("w", [4, 4], [-1], [1])]), "out of range"),
                (conv_model(sparses=[sparse("w", [4], [1], [1], INT64)]), "not of floats"),
                (number(1, 8), "no graph"), (whole[:-4], "names no operator set"), (onnx(graph([])) + part(7, b""), "two graphs"),
                (onnx(graph([part(1, "x")])), "no operator")):
            self.refuse("m.onnx", content, what)

    def test_safetensors(self):
        data = pack(WEIGHTS[:4])

        def header(text):
            return raw_safetensors(text.encode(), data)

        def entries(*offsets, shape="[2]"):
            return header("{" + ",".join(
                f'"{name}":{{"dtype":"F32","shape":{shape},"data_offsets":{list(pair)}}}'
                for name, pair in zip("abc", offsets)) + "}")

        self.write("good.safetensors", entries((0, 8), (8, 16)))
        self.succeed("info", "good.safetensors")
        whole = self.read("good.safetensors")
        for content, what in (
                (whole[:60], "truncated"), (whole[:-1], "not within the file"),
                (whole + b"1", "1 bytes behind"), (entries((0, 8), (4, 12)), "overlaps"),
                (entries((0, 8), (0, 8)), "overlaps"), (entries((0, 8)), "8 bytes behind"),
                (entries((0, 4), (8, 16)), "4 bytes, which are not (2,) of F32"),
                (entries((8, 16)), "hole"), (entries((8, 0)), "not within"),
                (entries((-8, 0)), "not within"), (entries((0, 1 << 62)), "not within"),
                (entries((0, 16), shape=f"[{1 << 40}]"), "16 bytes"),
                (entries((0, 16), shape=f"[{1 << 40},{1 << 40}]"), "too large"),
                (entries((0, 16), shape="[-4]"), "no list of sizes"),
                (entries((0, 16), shape="[1,1,1,1,1,1,1,1,4]"), "more than 8"),
                (header('{"a":{},"a":{}}'), "duplicate"), (header('{"a":1}'), "no object"),
                (header('{"a":{"shape":[4],"data_offsets":[0,16]}}'), "dtype"),
                (header('{"__metadata__":{"a":1}}'), "metadata"), (header("{"), "no JSON"),
                (header('{"":{}}'), "no name"), (header("{}"), "16 bytes behind"),
                (struct.pack("<Q", 100_000_001) + b"{" + b" " * 64, "header of 100000001 bytes"),
                (struct.pack("<Q", 1 << 39) + b"{" + b" " * 64, "header of")):
            self.refuse("m.safetensors", content, what)

    def test_a_header_of_100_megabytes(self):
        with open(self.folder / "m.safetensors", "wb") as file:
            file.write(struct.pack("<Q", 100_000_000) + b"{")
            file.truncate(8 + 100_000_000)
        self.fail_with(2, "m.safetensors", "header of 100000000 bytes", "info", "m.safetensors")

    def test_memory_is_bounded(self):
        """Megabytes of the smallest nodes and names, which take more in memory than in the file."""
        count = 100_000
        many = onnx(graph([node("A", ["x"], [f"{i:x}"]) for i in range(count)]))
        self.write("m.onnx", many)
        small = self.csrconv("info", "m.onnx")
        self.assertEqual(small.returncode, 0, small.stderr)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        self.assertLess(peak, 100 * len(many) + (256 << 20))

    def test_the_real_one(self):
        if not MNIST.exists():
            self.skipTest("../shared/data not present")
        shown = self.info(MNIST)
        for part_of_it in ("opset 8", "Input3 (1, 1, 28, 28)", "mb1ic1ih28oc8oh28kh5ph2",
                           "mb1ic8ih14oc16oh14kh5ph2", "3400 nonzeros of 3400"):
            self.assertIn(part_of_it, shown)
        self.prune(MNIST, "p.onnx", "--sparsity", 0.9, "--scope", "global")
        old, new = MNIST.read_bytes(), self.read("p.onnx")
        self.assertEqual(len(old), len(new))
        self.assertIn("340 nonzeros of 3400", self.info("p.onnx"))
        self.prune(MNIST, "same.onnx", "--sparsity", 0)
        self.assertEqual(self.read("same.onnx"), old)


if __name__ == "__main__":
    support.main()
