"""Writes the first inputs of the fuzzers of model files: FILE.py CORPUS_FOLDER."""
import json
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from model_files import (BFLOAT16, DOUBLE, FLOAT, FLOAT16, INT64, attribute, conv_model, external,
                         graph, node, number, onnx, pack, part, raw_safetensors, safetensors,
                         sparse, tensor, value_info)

WEIGHTS = [(i % 5 - 2) / 2 for i in range(18)]
DIMS = [2, 1, 3, 3]


def small_network():
    """Every operator whose shape is followed, on small images."""
    shape = tensor("shape", [2], [0, -1], INT64)
    axes = tensor("axes", [1], [0], INT64)
    pads = tensor("pads", [8], [0, 0, 1, 1, 0, 0, 1, 1], INT64)
    batch_norm = [tensor(name, [2], [1.0, 0.5]) for name in ("scale", "shift", "mean", "var")]
    nodes = [
        node("Conv", ["x", "w", "b"], ["c"], "conv", auto_pad="SAME_UPPER", strides=[2, 1]),
        node("BatchNormalization", ["c", "scale", "shift", "mean", "var"], ["n"], epsilon=0.001),
        node("Relu", ["n"], ["r"]),
        node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
        node("Constant", [], ["k"], value=tensor("", [], [0.5])),
        node("Mul", ["p", "k"], ["m"]),
        node("Concat", ["m", "p"], ["cat"], axis=1),
        node("Pad", ["cat", "pads"], ["padded"]),
        node("AveragePool", ["padded"], ["a"], kernel_shape=[2, 2], pads=[0, 0, 1, 1]),
        node("Transpose", ["a"], ["t"], perm=[0, 1, 3, 2]),
        node("GlobalAveragePool", ["t"], ["g"]),
        node("Flatten", ["g"], ["f"]),
        node("Unsqueeze", ["f", "axes"], ["u"]),
        node("Squeeze", ["u", "axes"], ["s"]),
        node("Reshape", ["s", "shape"], ["z"]),
        node("Gemm", ["z", "fc"], ["h"], transB=1),
        node("ReduceMean", ["h"], ["e"], axes=[1], keepdims=0),
        node("Softmax", ["h"], ["y"]),
    ]
    tensors = [tensor("w", DIMS, WEIGHTS), tensor("b", [2], [1, 2]), shape, axes, pads,
               tensor("fc", [3, 4], range(12)), *batch_norm]
    return onnx(graph(nodes, tensors, [value_info("x", ["N", 1, 6, 6])], [value_info("y")]))


def onnx_files():
    conv = conv_model
    cycle = [node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"])]
    turned = [node("Relu", ["a"], ["y"]), node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1])]
    weights = tensor("w", DIMS, WEIGHTS)
    yield "network", small_network()
    for form in ("raw", "packed", "loose"):
        for name, kind in (("f32", FLOAT), ("f16", FLOAT16), ("bf16", BFLOAT16), ("f64", DOUBLE)):
            yield f"{form}_{name}", conv([tensor("w", DIMS, WEIGHTS, kind, form)])
    yield "sparse_linear", conv(sparses=[sparse("w", DIMS, [1, 7, 17], [1, 2, 3])])
    yield "sparse_full", conv(sparses=[sparse("w", DIMS, [(0, 0, 1, 1), (1, 0, 2, 2)], [1, 2],
                                              linear=False)])
    yield "sparse_unordered", conv(sparses=[sparse("w", DIMS, [7, 1], [1, 2])])
    yield "sparse_beyond", conv(sparses=[sparse("w", DIMS, [18], [1])])
    yield "sparse_huge", conv(sparses=[sparse("w", [1 << 20, 1 << 20, 1, 1], [1], [1])])
    yield "constant_weights", onnx(graph(
        [node("Constant", [], ["w"], value=weights), node("Identity", ["w"], ["v"]),
         node("Conv", ["x", "v"], ["y"])], [], [value_info("x", [1, 1, 4, 4])]))
    yield "cycle", onnx(graph(cycle, [], [value_info("x", [1])]))
    yield "own_input", onnx(graph([node("Relu", ["a"], ["a"])]))
    yield "out_of_order", onnx(graph(turned, [weights], [value_info("x", [1, 1, 4, 4])]))
    yield "two_makers", onnx(graph([node("Relu", ["x"], ["y"])] * 2, [], [value_info("x", [1])]))
    yield "two_names", conv([weights, weights])
    yield "huge_dims", conv([number(1, 1 << 40) + number(1, 1 << 40) + number(2, 1) +
                             part(8, "w") + part(9, b"1234")])
    yield "huge_count", conv([number(1, 1 << 40) + number(2, 1) + part(8, "w") + part(9, b"1234")])
    yield "negative_dim", conv([number(1, -1) + number(2, 1) + part(8, "w") + part(9, b"1234")])
    yield "many_dims", conv([tensor("w", [1] * 9, [1])])
    yield "data_twice", conv([weights + part(4, pack(WEIGHTS))])
    yield "external_absent", conv([external("w", DIMS, FLOAT, "w.bin", 0, 72)])
    yield "external_outside", conv([external("w", DIMS, FLOAT, "../w.bin")])
    yield "external_absolute", conv([external("w", DIMS, FLOAT, "/etc/passwd")])
    yield "undeclared", onnx(graph([node("Conv", ["x", "w"], ["y"])], [weights],
                                   [value_info("x")]))
    yield "other_operator", onnx(graph([node("Odd", ["x"], ["a"], domain="odd"),
                                        node("Conv", ["a", "w"], ["y"])], [weights],
                                       [value_info("x", [1, 1, 4, 4])]))
    yield "groups", conv([tensor("w", DIMS, WEIGHTS)], dims=(1, 2, 5, 5), group=2,
                         dilations=[2, 1], pads=[2, 1, 2, 1])
    yield "bad_group", conv([weights], group=0)
    yield "bad_strides", conv([weights], strides=[0, 1])
    yield "huge_pads", conv([weights], pads=[1 << 40] * 4)
    yield "no_graph", number(1, 8)
    yield "two_graphs", onnx(graph([])) + part(7, graph([]))
    yield "truncated", small_network()[:300]
    yield "nested", onnx(graph([node("If", ["x"], ["y"]) +
                                part(5, part(1, "then") + part(6, graph([])) + number(20, 5))]))
    yield "no_operator", onnx(graph([part(1, "x")]))
    yield "floats", onnx(graph([node("Constant", [], ["k"]) + part(5, attribute("value_ints", [
        1, 2, 3])), node("Relu", ["k"], ["y"])]))


def run_files():
    """BatchNormalization that is folded on request, and one whose input is read elsewhere too."""
    parts = [tensor("w", [2, 1, 1, 1], [1.0, 2.0]),
             *(tensor(name, [2], [1.0, 0.5]) for name in ("scale", "shift", "mean", "var"))]
    nodes = [node("Conv", ["x", "w"], ["c"]),
             node("BatchNormalization", ["c", "scale", "shift", "mean", "var"], ["n"])]
    ends = ([value_info("x", [1, 1, 2, 2])], [value_info("y")])
    yield "folded", onnx(graph([*nodes, node("Relu", ["n"], ["y"])], parts, *ends))
    yield "not_folded", onnx(graph([*nodes, node("Add", ["n", "c"], ["y"])], parts, *ends))


def safetensors_files():
    floats = pack(WEIGHTS)
    dense = ("F32", DIMS, floats)
    csr = {"w.indptr": ("I64", [3], struct.pack("<3q", 0, 1, 3)),
           "w.indices": ("I32", [3], struct.pack("<3i", 4, 0, 8)),
           "w.values": ("F32", [3], struct.pack("<3f", 1, 2, 3))}
    yield "dense", safetensors({"w": dense, "b": ("F32", [2], floats[:8])}, {"format": "pt"})
    yield "types", safetensors({
        "a": ("F16", DIMS, pack(WEIGHTS, FLOAT16)), "b": ("BF16", DIMS, pack(WEIGHTS, BFLOAT16)),
        "c": ("F64", DIMS, pack(WEIGHTS, DOUBLE)), "d": ("U8", [3], b"abc"),
        "e": ("F8_E4M3", [], b"1"), "f": ("NEW", [7], b"12"), "g": ("I64", [0, 3], b"")})
    yield "csr", safetensors(csr, {"w.shape": "2,1,3,3"})
    yield "csr_64", safetensors({**csr, "w.indices": ("I64", [3], struct.pack("<3q", 4, 0, 8)),
                                 "w.indptr": ("I32", [3], struct.pack("<3i", 0, 1, 3)),
                                 "w.values": ("F16", [3], struct.pack("<3e", 1, 2, 3))},
                                {"w.shape": "2,9"})
    yield "csr_shape", safetensors(csr, {"w.shape": "2,"})
    yield "csr_huge", safetensors(csr, {"w.shape": "2,1099511627776"})
    yield "csr_falls", safetensors({**csr, "w.indptr": ("I64", [3], struct.pack("<3q", 0, 4, 3))},
                                   {"w.shape": "2,1,3,3"})
    yield "csr_doubled", safetensors({**csr, "w.indices": ("I32", [3],
                                                           struct.pack("<3i", 4, 8, 8))},
                                     {"w.shape": "2,1,3,3"})
    yield "csr_beyond", safetensors({**csr, "w.indices": ("I32", [3],
                                                          struct.pack("<3i", 4, 0, 9))},
                                    {"w.shape": "2,1,3,3"})
    yield "csr_and_dense", safetensors({**csr, "w": dense}, {"w.shape": "2,1,3,3"})
    entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}

    def header(**entries):
        return raw_safetensors(json.dumps(entries).encode(), floats[:16])

    yield "overlap", header(a=entry, b={**entry, "data_offsets": [4, 12]})
    yield "hole", header(a=entry, b={**entry, "data_offsets": [12, 20]})
    yield "rest", header(a=entry)
    yield "reversed", header(a={**entry, "data_offsets": [8, 0]})
    yield "beyond", header(a={**entry, "shape": [1 << 40], "data_offsets": [0, 1 << 42]})
    yield "huge_shape", header(a={**entry, "shape": [1 << 62, 1 << 62]})
    yield "negative", header(a={**entry, "shape": [-2]})
    yield "many_dims", header(a={**entry, "shape": [1] * 9})
    yield "no_dtype", header(a={"shape": [2], "data_offsets": [0, 8]})
    yield "doubled", raw_safetensors(b'{"a":{},"a":{}}')
    yield "list", raw_safetensors(b"{[]}")
    yield "metadata", raw_safetensors(b'{"__metadata__":{"a":1}}')
    yield "empty", raw_safetensors(b"{}")
    yield "padded", raw_safetensors(b"{}      ")
    yield "long_header", struct.pack("<Q", 100_000_000) + b"{"
    yield "truncated", safetensors({"w": dense})[:40]
    yield "not_utf8", raw_safetensors(b'{"\xff":{}}')


def main(folder):
    for name, files in (("onnx", onnx_files()), ("run", run_files()),
                        ("safetensors", safetensors_files())):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for file, content in files:
            (folder / name / file).write_bytes(content)


main(pathlib.Path(sys.argv[1]))
