"""Trains a small CNN on scikit-learn's digits, prunes it to 90 % and writes data/weights/.

usage: digits.py [FOLDER]

Packages: requirements.txt beside this file. Takes a minute on one core; the seeds are fixed, so the
same packages on the same kind of processor write the same files.
"""
import json
import pathlib
import sys

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save as to_safetensors
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn import functional

SEED = 20261130
TEST_IMAGES = 360
SPARSITY_STEPS = {0.5: 25, 0.7: 25, 0.8: 25, 0.85: 25, 0.9: 100}  # with epochs of training after
LOGITS_KEPT = 100


class Digits(nn.Module):
    """8x8 grey images in (0 to 1), 10 logits out."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(32)
        self.conv3 = nn.Conv2d(32, 32, 3, padding=1)
        self.fc = nn.Linear(32, 10)

    def forward(self, x):
        x = functional.relu(self.bn1(self.conv1(x)))
        x = functional.max_pool2d(functional.relu(self.bn2(self.conv2(x))), 2)
        x = functional.relu(self.conv3(x))
        return self.fc(x.mean((2, 3)))


# ------------------------------------------------------------------------------ training

def load_data():
    """Images as float32 (N, 1, 8, 8) and labels, for training and for testing."""
    digits = load_digits()
    images = (digits.images / 16).astype("f4")[:, None]
    return train_test_split(images, digits.target, test_size=TEST_IMAGES, random_state=SEED,
                            stratify=digits.target)


def train(model, images, labels, epochs, rate, masks):
    """Pruned weights, those with a zero in the mask of their layer, stay zero."""
    batch = 32
    steps = epochs * (len(images) // batch)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps)
    model.train()
    for _ in range(epochs):
        order = torch.randperm(len(images))
        for start in range(0, len(images) - batch + 1, batch):
            chosen = order[start:start + batch]
            loss = functional.cross_entropy(model(shifted(images[chosen])), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            for weight, mask in masks:
                weight.data *= mask
    model.eval()


def shifted(images):
    """Half of the time moved by up to one pixel each way, so that 1,437 images are enough."""
    down, right = torch.randint(0, 3, (2,)).tolist() if torch.rand(()) < 0.5 else (1, 1)
    return functional.pad(images, (1, 1, 1, 1))[:, :, down:down + 8, right:right + 8]


def prune(model, sparsity):
    """Zeroes the smallest weights of all convolutions together; returns (weight, mask) pairs."""
    weights = [layer.weight for layer in (model.conv1, model.conv2, model.conv3)]
    sizes = torch.cat([w.detach().abs().flatten() for w in weights])
    threshold = sizes.kthvalue(round(sparsity * len(sizes))).values
    masks = [(w, (w.detach().abs() > threshold).float()) for w in weights]
    for weight, mask in masks:
        weight.data *= mask
    return masks


def count_right(model, images, labels):
    with torch.no_grad():
        return int((model(images).argmax(1) == labels).sum())


# --------------------------------------------------------------------------------- files

def to_onnx(tensors):
    """The graph as it stands above, with batches of any size."""
    nodes, name = [], "image"

    def add(operator, *inputs, **attributes):
        nonlocal name
        node = f"{operator.lower()}_{len(nodes)}"
        nodes.append(helper.make_node(operator, [name, *inputs], [f"{node}_out"], node,
                                      **attributes))
        name = f"{node}_out"

    def convolve(conv, bias):
        add("Conv", f"{conv}.weight", *[f"{conv}.bias"] * bias, kernel_shape=[3, 3],
            pads=[1, 1, 1, 1])

    def normalize(bn):
        add("BatchNormalization", *(f"{bn}.{part}" for part in (
            "weight", "bias", "running_mean", "running_var")), epsilon=1e-5)

    convolve("conv1", False)
    normalize("bn1")
    add("Relu")
    convolve("conv2", False)
    normalize("bn2")
    add("Relu")
    add("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    convolve("conv3", True)
    add("Relu")
    add("GlobalAveragePool")
    add("Flatten")
    add("Gemm", "fc.weight", "fc.bias", transB=1)
    nodes[-1].output[0] = "logits"
    graph = helper.make_graph(
        nodes, "digits", [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 8, 8])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", 10])],
        [numpy_helper.from_array(value, key) for key, value in tensors.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model


def save(folder, name, model, images):
    tensors = {key: value.numpy() for key, value in model.state_dict().items()
               if not key.endswith("num_batches_tracked")}
    (folder / f"{name}.safetensors").write_bytes(to_safetensors(tensors))
    (folder / f"{name}.onnx").write_bytes(to_onnx(tensors).SerializeToString(deterministic=True))
    with torch.no_grad():
        np.save(folder / f"{name}-logits.npy", model(images[:LOGITS_KEPT]).numpy())


def main(folder):
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    train_images, test_images, train_labels, test_labels = map(torch.from_numpy, load_data())
    folder.mkdir(parents=True, exist_ok=True)
    # Sixteenths: float16 holds them exactly.
    np.save(folder / "digits-test-images.npy", test_images.numpy().astype("f2"))
    np.save(folder / "digits-test-labels.npy", test_labels.numpy().astype("f4"))

    model = Digits()
    results = {"images": TEST_IMAGES}

    def keep(name):
        save(folder, name, model, test_images)
        weights = torch.cat([w.detach().flatten() for n, w in model.named_parameters()
                             if n.startswith("conv") and n.endswith("weight")])
        right = count_right(model, test_images, test_labels)
        results[name] = {"right": right, "conv_nonzeros": int(weights.count_nonzero())}
        print(f"{name}: {right} of {TEST_IMAGES} right, {int(weights.count_nonzero())} of "
              f"{len(weights)} weights of convolutions are not zero")

    train(model, train_images, train_labels, 60, 1e-2, [])
    keep("digits-dense")
    for sparsity, epochs in SPARSITY_STEPS.items():
        train(model, train_images, train_labels, epochs, 5e-3, prune(model, sparsity))
    keep("digits-pruned")
    (folder / "digits.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "../../data/weights")
