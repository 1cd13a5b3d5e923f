"""`csrconv run MODEL` against ONNX Runtime: every value of real models, with the same weights.

usage: onnxruntime_outputs.py CSRCONV WEIGHTS_FOLDER DATA_FOLDER

The digits of data/weights; of ../shared/data opt-mnist and the ResNet-20, as they are and as
`csrconv prune` makes them.
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime
    from resnet20 import make_model
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

# Both sum in float32, in orders of their own: a few units of rounding of the largest element.
TOLERANCE = 2e-5


def all_values(model, x):
    """What ONNX Runtime computes, by name: every output of every node, in the order of the graph."""
    names = [name for node in model.graph.node if node.op_type != "Constant"
             for name in node.output]
    whole = onnx.ModelProto.FromString(model.SerializeToString())
    del whole.graph.output[:]
    whole.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    session = onnxruntime.InferenceSession(whole.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    initializers = {tensor.name for tensor in model.graph.initializer}
    image, = (i.name for i in model.graph.input if i.name not in initializers)
    return dict(zip(names, session.run(names, {image: x})))


def run(csrconv, path, folder, *flags):
    subprocess.run([csrconv, "run", path, "--input", folder / "x.npy", "--output",
                    folder / "y.npy", "--device", "cpu", *flags], check=True,
                   stdout=subprocess.PIPE)
    return np.load(folder / "y.npy")


def difference(got, want):
    """As a fraction of what is allowed."""
    if got.shape != want.shape:
        return float("inf")
    return abs(got - want).max() / (TOLERANCE * abs(want).max())


def check(csrconv, name, path, x, folder):
    """The number of values, and of those that differ."""
    model = onnx.load(path)
    want = all_values(model, x)
    np.save(folder / "x.npy", x)
    worst, wrong = 0.0, []
    for layer, values in want.items():
        found = difference(run(csrconv, path, folder, "--layer", layer), values)
        worst = max(worst, found)
        if not found <= 1:
            wrong.append(layer)
    for flags in ((), ("--fold-bn",)):
        end = difference(run(csrconv, path, folder, *flags), want[model.graph.output[0].name])
        if not end <= 1:
            wrong.append(" ".join(("the whole", *flags)))
    print(f"{'FAILED' if wrong else 'ok'} {name}: {len(want)} values of {path.name}, largest "
          f"difference {worst:.3f} of what is allowed{': ' if wrong else ''}{', '.join(wrong)}",
          flush=True)
    return len(want) + 2, len(wrong)


def prune(csrconv, source, target):
    subprocess.run([csrconv, "prune", "--input", source, "--output", target, "--sparsity", "0.9",
                    "--scope", "global"], check=True, stdout=subprocess.PIPE)
    return target


def cases(csrconv, weights, data, folder):
    random = np.random.default_rng(3)
    images = np.load(weights / "digits-test-images.npy").astype("f4")
    for name in ("digits-dense", "digits-pruned"):
        yield name, weights / f"{name}.onnx", images[:20]
    if not (data / "models").is_dir():
        print("skipped: ../shared/data not present")
        return
    opt_mnist = data / "models" / "onnx-small" / "opt-mnist.onnx"
    x = random.standard_normal((1, 1, 28, 28)).astype("f4")
    yield "opt-mnist", opt_mnist, x
    yield "opt-mnist at 90 %", prune(csrconv, opt_mnist, folder / "opt-mnist-pruned.onnx"), x
    resnet20 = folder / "resnet20.onnx"
    onnx.save(make_model(np.load(data / "models" / "resnet20-cifar10" / "resnet20.npz")), resnet20)
    x = random.standard_normal((2, 3, 32, 32)).astype("f4")
    yield "ResNet-20", resnet20, x
    yield "ResNet-20 at 90 %", prune(csrconv, resnet20, folder / "resnet20-pruned.onnx"), x


def main(csrconv, weights, data):
    passed = failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for case in cases(csrconv, pathlib.Path(weights), pathlib.Path(data), folder):
            count, wrong = check(csrconv, *case, folder)
            passed, failed = passed + count - wrong, failed + wrong
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0 or passed == 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
