"""Every operator of `csrconv run MODEL` with many attributes, against ONNX Runtime.

usage: onnxruntime_operators.py CSRCONV

Models of one node each, with random inputs.
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

TOLERANCE = 2e-5
IR_VERSION = 8


class Case:
    """A node, its first input's shape, and its other inputs: arrays, or None if left out."""

    def __init__(self, operator, shape, *others, opset=13, **attributes):
        self.operator, self.shape, self.others = operator, shape, others
        self.opset, self.attributes = opset, attributes

    def __str__(self):
        others = [None if o is None else o.tolist() if o.size < 5 else o.shape for o in self.others]
        return f"{self.operator}-{self.opset} {self.shape} {others} {self.attributes}"

    def model(self):
        names = ["" if o is None else f"constant{i}" for i, o in enumerate(self.others)]
        node = helper.make_node(self.operator, ["x", *names], ["y"], "node", **self.attributes)
        constants = [numpy_helper.from_array(o, name)
                     for o, name in zip(self.others, names) if o is not None]
        graph = helper.make_graph(
            [node], "one", [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                 ir_version=IR_VERSION).SerializeToString()


class FlattenByShape(Case):
    """x.view(x.size(0), -1), as PyTorch exports it for batches of any size."""

    def __init__(self, shape):
        super().__init__("Reshape", shape)

    def model(self):
        nodes = [helper.make_node("Shape", ["x"], ["shape"]),
                 helper.make_node("Gather", ["shape", "zero"], ["batch"], axis=0),
                 helper.make_node("Cast", ["batch"], ["whole"], to=TensorProto.INT64),
                 helper.make_node("Unsqueeze", ["whole", "axes"], ["first"]),
                 helper.make_node("Concat", ["first", "rest"], ["sizes"], axis=0),
                 helper.make_node("Reshape", ["x", "sizes"], ["y"])]
        constants = {"zero": np.array(0, "i8"), "axes": ints(0), "rest": ints(-1)}
        graph = helper.make_graph(
            nodes, "flatten", [helper.make_tensor_value_info("x", TensorProto.FLOAT,
                                                             ["n", *self.shape[1:]])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
            [numpy_helper.from_array(value, name) for name, value in constants.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                 ir_version=IR_VERSION).SerializeToString()


def ints(*items):
    return np.array(items, "i8")


def pointwise(floats):
    shape = (2, 3, 5, 4)
    yield from (Case(name, shape) for name in (
        "Relu", "Sigmoid", "Tanh", "LeakyRelu", "Identity", "Dropout", "HardSigmoid"))
    yield Case("LeakyRelu", shape, alpha=0.3)
    yield Case("HardSigmoid", shape, alpha=0.4, beta=0.3)
    yield Case("HardSwish", shape, opset=14)
    yield Case("Clip", shape, opset=6, min=-0.5, max=0.25)
    yield Case("Clip", shape)
    yield Case("Clip", shape, np.float32(-0.5), np.float32(0.5))
    yield Case("Clip", shape, None, np.float32(0.5))
    for name in ("Add", "Sub", "Mul", "Div"):
        for other in ((2, 3, 5, 4), (3, 1, 1), (1,), (), (2, 1, 5, 1), (6, 2, 3, 5, 4)):
            yield Case(name, shape, floats(other) + np.float32(3))
        yield Case(name, (3, 1), floats((2, 1, 5)) + np.float32(3))
    yield Case("Sum", shape)
    yield Case("Sum", shape, floats((3, 1, 1)), floats((6, 2, 3, 5, 4)), floats(()))


def shapes(floats):
    shape = (2, 3, 1, 4)
    yield from (Case("Flatten", shape, axis=axis) for axis in (0, 1, 2, 4, -1))
    yield from (Case("Reshape", shape, ints(*to)) for to in ((6, 4), (-1,), (0, -1), (4, -1, 2, 1)))
    yield Case("Reshape", shape, ints(0, 12), opset=14, allowzero=0)
    yield FlattenByShape(shape)
    yield Case("Squeeze", shape, ints(2))
    yield Case("Squeeze", (1, 3, 1, 4))
    yield Case("Squeeze", shape, opset=11, axes=[-2])
    yield Case("Unsqueeze", shape, ints(0, -1))
    yield Case("Unsqueeze", shape, opset=11, axes=[1, 3])
    yield Case("Transpose", shape)
    yield Case("Transpose", shape, perm=[0, 2, 3, 1])
    yield Case("Transpose", (4, 5), perm=[1, 0])
    yield from (Case("Concat", shape, floats(other), axis=axis) for axis, other in (
        (1, (2, 5, 1, 4)), (-1, (2, 3, 1, 2)), (0, (1, 3, 1, 4))))
    yield Case("Concat", shape, floats(shape), floats((2, 3, 2, 4)), axis=2)
    yield Case("Slice", (7, 6), ints(1, 0), ints(5, 9))
    yield Case("Slice", (7, 6), ints(-3), ints(2 ** 63 - 1), ints(-1))
    yield Case("Slice", (7, 6), ints(6, 4), ints(-100, 0), ints(0, 1), ints(-2, -3))
    yield Case("Slice", (2, 3, 7, 6), ints(0, 1), ints(7, 6), ints(2, 3), ints(2, 2))
    yield Case("Slice", (7, 6), opset=9, starts=[1], ends=[-1], axes=[1])


def padding():
    pads = ints(0, 1, 2, 0, 1, 0, 1, 3)
    for mode in ("constant", "reflect", "edge"):
        yield Case("Pad", (2, 3, 4, 5), pads, mode=mode)
        yield Case("Pad", (2, 3, 4, 5), ints(0, -1, 2, 0, 0, 0, -1, 1), mode=mode)
    yield Case("Pad", (2, 3, 4, 5), pads, np.float32(1.5))
    yield Case("Pad", (3, 4), opset=2, pads=[1, 0, 0, 2], value=-2.0)


def pooling():
    windows = [
        {"kernel_shape": [2, 2]},
        {"kernel_shape": [2, 2], "strides": [2, 2]},
        {"kernel_shape": [3, 2], "strides": [2, 3], "pads": [1, 0, 1, 1]},
        {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
        {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "ceil_mode": 1},
        {"kernel_shape": [3, 2], "strides": [2, 2], "auto_pad": "SAME_UPPER"},
        {"kernel_shape": [2, 4], "strides": [1, 1], "auto_pad": "SAME_LOWER"},
        {"kernel_shape": [3, 3], "auto_pad": "VALID"},
    ]
    for shape in ((2, 3, 9, 8), (1, 2, 7, 12)):
        for window in windows:
            yield Case("MaxPool", shape, **window)
            yield Case("AveragePool", shape, **window)
            yield Case("AveragePool", shape, count_include_pad=1, **window)
        yield Case("MaxPool", shape, kernel_shape=[2, 3], dilations=[2, 2], pads=[0, 1, 1, 1])
        yield Case("AveragePool", shape, opset=19, kernel_shape=[2, 3], dilations=[2, 2],
                   pads=[0, 1, 1, 1])
        yield Case("GlobalAveragePool", shape)


def reductions():
    for axes in ([2, 3], [-1], [0, 2], [1]):
        for keepdims in (0, 1):
            yield Case("ReduceMean", (2, 3, 4, 5), axes=axes, keepdims=keepdims)
            yield Case("ReduceMean", (2, 3, 4, 5), ints(*axes), opset=18, keepdims=keepdims)
    yield Case("ReduceMean", (2, 3, 4))


def normalization(floats):
    parts = [floats((3,)), floats((3,)), floats((3,)), abs(floats((3,)))]
    yield Case("BatchNormalization", (2, 3, 4, 5), *parts)
    yield Case("BatchNormalization", (2, 3), *parts, epsilon=0.01)
    yield Case("BatchNormalization", (2, 3, 4), *parts, opset=15)
    yield from (Case("LRN", (2, 7, 3, 2), size=size) for size in (1, 3, 5))
    yield Case("LRN", (2, 7, 3, 2), size=5, alpha=0.2, beta=0.5, bias=2.0)
    for axis in (0, 1, -1):
        yield Case("Softmax", (4, 5, 3), axis=axis)
        yield Case("Softmax", (4, 5, 3), opset=11, axis=axis)
    yield Case("Softmax", (2, 10))


def products(floats):
    yield Case("Gemm", (3, 5), floats((5, 4)))
    yield Case("Gemm", (3, 5), floats((5, 4)), floats((4,)))
    yield Case("Gemm", (5, 3), floats((4, 5)), floats((3, 1)), transA=1, transB=1, alpha=0.5,
               beta=2.0)
    yield Case("Gemm", (3, 5), floats((4, 5)), floats((3, 4)), transB=1)
    yield Case("Gemm", (3, 5), floats((4, 5)), floats(()), transB=1, beta=0.25)
    yield Case("MatMul", (3, 5), floats((5, 4)))
    yield Case("MatMul", (2, 3, 5), floats((5, 4)))
    yield Case("MatMul", (2, 3, 5), floats((2, 5, 4)))


def convolutions(floats):
    w = floats((4, 2, 3, 2)) * (floats((4, 2, 3, 2)) > 0.5)
    b = floats((4,))
    yield Case("Conv", (2, 2, 7, 8), w)
    yield Case("Conv", (2, 2, 7, 8), w, b, kernel_shape=[3, 2], pads=[1, 0, 2, 1], strides=[2, 1])
    yield Case("Conv", (2, 4, 7, 8), w, b, group=2, dilations=[2, 3])
    yield from (Case("Conv", (1, 2, 7, 8), w, b, auto_pad=pad, strides=[2, 2])
                for pad in ("SAME_UPPER", "SAME_LOWER", "VALID"))
    yield Case("Conv", (1, 2, 7, 8), w.astype("f4"), floats((4,)))


def difference(csrconv, case, x, folder):
    """The largest, as a fraction of what is allowed."""
    model = case.model()
    want, = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(
        ["y"], {"x": x})
    (folder / "one.onnx").write_bytes(model)
    np.save(folder / "x.npy", x)
    done = subprocess.run([csrconv, "run", "one.onnx", "--input", "x.npy", "--output", "y.npy",
                           "--device", "cpu"], cwd=folder, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        print(done.stderr)
        return float("inf")
    got = np.load(folder / "y.npy")
    if got.shape != want.shape:
        print(f"shape {got.shape}, not {want.shape}")
        return float("inf")
    return abs(got - want).max() / (TOLERANCE * abs(want).max())


def main(csrconv):
    random = np.random.default_rng(5)
    passed = failed = 0

    def floats(shape):
        return np.asarray(random.standard_normal(shape), "f4")

    cases = [*pointwise(floats), *shapes(floats), *padding(), *pooling(), *reductions(), *normalization(floats),
             *products(floats), *convolutions(floats)]
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            found = difference(pathlib.Path(csrconv).resolve(), case, floats(case.shape),
                               pathlib.Path(folder))
            passed, failed = passed + (found <= 1), failed + (not found <= 1)
            if not found <= 1:
                print(f"FAILED {case}: {found:.3g} of what is allowed", flush=True)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0 or passed == 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
