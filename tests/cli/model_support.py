"""What the tests of model files share."""
import pathlib
import struct

import support
from model_files import read_safetensors

DIMS = [4, 2, 3, 3]
WEIGHTS = [(i * 7 % 19 - 9) / 4 for i in range(72)]  # four zeros, exact in every type
INPUT = (1, 2, 8, 8)
MNIST = (pathlib.Path(__file__).parents[3] / "shared" / "data" / "models" / "onnx-small" /
         "opt-mnist.onnx")


def smallest_zeroed(values, zeros):
    """Of equal ones the first go."""
    order = sorted(range(len(values)), key=lambda i: (abs(values[i]), i))
    gone = set(order[:zeros])
    return [0.0 if i in gone else x for i, x in enumerate(values)]


class Models(support.Case):
    def info(self, name, *more):
        return self.succeed("info", name, *more).stdout.decode()

    def problem(self, name, *more):
        """The problem of the only convolution."""
        row = [line for line in self.info(name, *more).splitlines() if line.startswith("  ")][1]
        return row.split("  ")[-1].strip()

    def prune(self, source, output, *more):
        return self.succeed("prune", "--input", source, "--output", output, *more)

    def weights_of(self, name):
        """Every tensor of the file, through a dense safetensors copy, as lists of floats."""
        self.prune(name, "copy.safetensors", "--sparsity", 0)
        tensors, _ = read_safetensors(self.read("copy.safetensors"))
        code = {"F32": "f", "F64": "d", "F16": "e", "I64": "q"}
        return {key: list(struct.unpack(f"<{len(data) // struct.calcsize(code[dtype])}"
                                        f"{code[dtype]}", data))
                for key, (dtype, _, data) in tensors.items() if dtype in code}
