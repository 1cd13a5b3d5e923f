"""The ResNet-20 of ../shared/data/models/resnet20-cifar10 as an ONNX model.

usage: resnet20.py RESNET20.npz OUT.onnx

As torch.onnx.export would write it before any folding: BatchNormalization kept apart, and the
shortcuts without weights as a Slice of every second pixel and a Pad of channels.
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    def __init__(self, weights):
        self.weights, self.nodes, self.initializers = weights, [], {}

    def constant(self, name, values, dtype="i8"):
        self.initializers[name] = np.array(values, dtype)
        return name

    def take(self, name):
        self.initializers[name] = self.weights[name].astype("f4")
        return name

    def add(self, operator, name, *inputs, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [f"{name}_out"], name, **attributes))
        return f"{name}_out"

    def convolve(self, x, conv, bn, stride=1):
        x = self.add("Conv", conv, x, self.take(f"{conv}.weight"), strides=[stride, stride],
                     pads=[1, 1, 1, 1])
        parts = ("weight", "bias", "running_mean", "running_var")
        return self.add("BatchNormalization", bn, x, *(self.take(f"{bn}.{p}") for p in parts))

    def shortcut(self, x, block, channels):
        ends = (self.constant("first", [0, 0]), self.constant("last", [2 ** 63 - 1] * 2))
        x = self.add("Slice", f"{block}.slice", x, *ends, self.constant("plane", [2, 3]),
                     self.constant("every_second", [2, 2]))
        pads = [0, channels // 4, 0, 0] * 2
        return self.add("Pad", f"{block}.pad", x, self.constant(f"{block}.pads", pads))

    def block(self, x, block, channels, stride):
        y = self.convolve(x, f"{block}.conv1", f"{block}.bn1", stride)
        y = self.add("Relu", f"{block}.relu1", y)
        y = self.convolve(y, f"{block}.conv2", f"{block}.bn2")
        if stride != 1:
            x = self.shortcut(x, block, channels)
        return self.add("Relu", f"{block}.relu2", self.add("Add", f"{block}.add", y, x))


def make_model(weights):
    graph = Graph(weights)
    x = graph.add("Relu", "relu1", graph.convolve("image", "conv1", "bn1"))
    for stage, channels in ((1, 16), (2, 32), (3, 64)):
        for index in range(3):
            stride = 2 if stage > 1 and index == 0 else 1
            x = graph.block(x, f"layer{stage}.{index}", channels, stride)
    x = graph.add("Flatten", "flatten", graph.add("GlobalAveragePool", "pool", x))
    x = graph.add("Gemm", "linear", x, graph.take("linear.weight"), graph.take("linear.bias"),
                  transB=1)
    made = helper.make_graph(
        graph.nodes, "resnet20",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 3, 32, 32])],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, ["N", 10])],
        [numpy_helper.from_array(value, name) for name, value in graph.initializers.items()])
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model


def main(source, target):
    onnx.save(make_model(np.load(source)), target)


if __name__ == "__main__":
    main(*sys.argv[1:])
