"""Model files in pure Python: ONNX as protocol buffers, field by field, and safetensors."""
import json
import struct

FLOAT, INT32, INT64, FLOAT16, DOUBLE, BFLOAT16 = 1, 6, 7, 10, 11, 16
SIZES = {FLOAT: 4, INT32: 4, INT64: 8, FLOAT16: 2, DOUBLE: 8, BFLOAT16: 2}


# ------------------------------------------------------------------ protocol buffers

def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def part(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def fixed(field, value):
    return varint(field << 3 | 5) + struct.pack("<f", value)


# ------------------------------------------------------------------------------ ONNX

def pack(values, kind=FLOAT):
    """Raw data."""
    code = {FLOAT: "f", INT32: "i", INT64: "q", FLOAT16: "e", DOUBLE: "d"}.get(kind)
    if code:
        return struct.pack(f"<{len(values)}{code}", *values)
    return b"".join(struct.pack("<f", value)[2:] for value in values)


def tensor(name, dims, values, kind=FLOAT, form="raw"):
    """A TensorProto; form: raw, packed (typed data), loose (typed, not packed), or bytes as they are."""
    out = b"".join(number(1, dim) for dim in dims) + number(2, kind)
    field = {FLOAT: 4, DOUBLE: 10, INT64: 7}.get(kind, 5)
    raw = pack(values, kind)
    size = SIZES[kind]
    items = [raw[i:i + size] for i in range(0, len(raw), size)]
    if kind not in (FLOAT, DOUBLE):
        items = [varint(int.from_bytes(item, "little", signed=kind in (INT32, INT64)))
                 for item in items]
    wire = {FLOAT: 5, DOUBLE: 1}.get(kind, 0)
    if form == "raw":
        data = part(9, raw)
    elif form == "packed":
        data = part(field, b"".join(items))
    else:
        data = b"".join(varint(field << 3 | wire) + item for item in items)
    return out + part(8, name) + data


def external(name, dims, kind, location, offset=None, length=None):
    """A TensorProto whose data is in another file."""
    entries = [("location", location)]
    entries += [("offset", str(offset))] if offset is not None else []
    entries += [("length", str(length))] if length is not None else []
    out = b"".join(number(1, dim) for dim in dims) + number(2, kind) + part(8, name)
    out += b"".join(part(13, part(1, key) + part(2, value)) for key, value in entries)
    return out + number(14, 1)


def sparse(name, dims, places, values, kind=FLOAT, linear=True):
    """A SparseTensorProto; places are linear or, if not, tuples of indices."""
    indices = places if linear else [index for place in places for index in place]
    shape = [len(places)] if linear else [len(places), len(dims)]
    return (part(1, tensor(name, [len(values)], values, kind)) +
            part(2, tensor("", shape, indices, INT64)) + b"".join(number(3, d) for d in dims))


def attribute(name, value):
    out = part(1, name)
    if isinstance(value, bytes):
        return out + part(5, value) + number(20, 4)
    if isinstance(value, str):
        return out + part(4, value) + number(20, 3)
    if isinstance(value, float):
        return out + fixed(2, value) + number(20, 1)
    if isinstance(value, int):
        return out + number(3, value) + number(20, 2)
    return out + b"".join(number(8, item) for item in value) + number(20, 7)


def node(op, inputs, outputs, name="", domain="", **attributes):
    out = b"".join(part(1, x) for x in inputs) + b"".join(part(2, x) for x in outputs)
    out += (part(3, name) if name else b"") + part(4, op)
    out += b"".join(part(5, attribute(key, value)) for key, value in attributes.items())
    return out + (part(7, domain) if domain else b"")


def value_info(name, dims=None):
    """dims: sizes, or names of sizes; None: not declared."""
    if dims is None:
        return part(1, name)
    sizes = b"".join(part(1, part(2, d) if isinstance(d, str) else number(1, d)) for d in dims)
    return part(1, name) + part(2, part(1, number(1, FLOAT) + part(2, sizes)))


def graph(nodes, tensors=(), inputs=(), outputs=(), sparses=()):
    return (b"".join(part(1, x) for x in nodes) + part(2, "graph") +
            b"".join(part(5, x) for x in tensors) + b"".join(part(11, x) for x in inputs) +
            b"".join(part(12, x) for x in outputs) + b"".join(part(15, x) for x in sparses))


def onnx(content, opset=17):
    return number(1, 8) + part(2, "test") + part(7, content) + part(8, number(2, opset))


def conv_model(tensors=(), sparses=(), dims=(1, 1, 4, 4), **attributes):
    """One convolution, of the weights w, on the input x."""
    return onnx(graph([node("Conv", ["x", "w"], ["y"], "conv", **attributes)], tensors,
                      [value_info("x", dims)], [value_info("y")], sparses))


# ----------------------------------------------------------------------- safetensors

def safetensors(tensors, metadata=None):
    """tensors: name -> (dtype, shape, bytes)."""
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape),
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    return raw_safetensors(json.dumps(header, separators=(",", ":")).encode(), data)


def raw_safetensors(header, data=b""):
    return struct.pack("<Q", len(header)) + header + data


def read_safetensors(content):
    """name -> (dtype, shape, bytes), and the metadata."""
    size, = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + size])
    data = content[8 + size:]
    metadata = header.pop("__metadata__", {})
    return {name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
            for name, entry in header.items()}, metadata
