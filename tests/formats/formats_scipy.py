"""Files of numpy and scipy read by csrconv, and the other way round.

usage: formats_scipy.py FORMAT_DUMP
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.io
    import scipy.sparse as sp
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def shown(dump, path):
    """(kind, shape, note, indptr, indices, values) of what format_dump prints."""
    text = subprocess.run([dump, path], check=True, capture_output=True, text=True).stdout
    head, note, indptr, indices, values = text.split("\n")[:5]
    kind, shape = head.split(" ", 1)
    numbers = [np.array(line.split(), dtype) for line, dtype in
               ((indptr, "i8"), (indices, "i8"), (values, "f4"))]
    return kind, eval(shape), note[5:], *numbers


def check_array(dump, path, array):
    kind, shape, note, _, _, values = shown(dump, path)
    with np.errstate(over="ignore"):
        want = np.ascontiguousarray(array).astype("f4").ravel()
    assert kind == "dense" and shape == array.shape, (path, kind, shape)
    assert np.array_equal(values, want, equal_nan=True), (path, values, want)
    return note


def check_matrix(dump, path, matrix):
    kind, shape, note, indptr, indices, values = shown(dump, path)
    assert kind == "csr" and shape == matrix.shape, (path, kind, shape)
    got = sp.csr_matrix((values, indices, indptr), shape)
    assert np.array_equal(got.toarray(), matrix.toarray().astype("f4"), equal_nan=True), path
    return note


def read_arrays(dump, folder, rng):
    for shape in [(), (1,), (7,), (0,), (3, 5), (4, 0, 2), (2, 3, 4, 5), (2, 1, 3, 1, 2, 1, 2, 3)]:
        for dtype in ["<f2", "<f4", "<f8", ">f2", ">f4", ">f8"]:
            for order in "CF":
                array = np.array(rng.standard_normal(shape) * 100, dtype=dtype, order=order)
                np.save(folder / "a.npy", array)
                check_array(dump, folder / "a.npy", array)
    for version in [(1, 0), (2, 0), (3, 0)]:
        with open(folder / "a.npy", "wb") as file:
            np.lib.format.write_array(file, array, version)
        check_array(dump, folder / "a.npy", array)
    halves = np.arange(1 << 16, dtype="u2").view("f2")  # every one there is
    np.save(folder / "a.npy", halves)
    check_array(dump, folder / "a.npy", halves)
    np.save(folder / "a.npy", np.array([1e300, 1e-300, np.nan, -np.inf]))
    assert "1 values beyond float32" in check_array(dump, folder / "a.npy", np.load(folder / "a.npy"))


def matrices(rng):
    for shape in [(1, 1), (5, 3), (64, 147), (300, 1000), (7, 1)]:
        for density in [0, 0.05, 0.5, 1]:
            yield sp.random(*shape, density, "csr", random_state=rng)
    unsorted = sp.csr_matrix((np.array([1.0, 2.0]), np.array([3, 1]), np.array([0, 2])), (1, 4))
    yield unsorted


def read_matrices(dump, folder, rng):
    for matrix in matrices(rng):
        for dtype in ["f4", "f8"]:
            for compressed in [False, True]:
                sp.save_npz(folder / "m.npz", matrix.astype(dtype), compressed)
                check_matrix(dump, folder / "m.npz", matrix)
        matrix.indices, matrix.indptr = matrix.indices.astype("i8"), matrix.indptr.astype("i8")
        sp.save_npz(folder / "m.npz", matrix)
        check_matrix(dump, folder / "m.npz", matrix)
        scipy.io.mmwrite(folder / "m.mtx", matrix.astype("f4"), precision=9)
        check_matrix(dump, folder / "m.mtx", matrix)
        scipy.io.mmwrite(folder / "d.mtx", matrix.toarray(), precision=17)
        check_array(dump, folder / "d.mtx", matrix.toarray())
    square = sp.random(30, 30, 0.2, random_state=rng)
    for symmetric in [square + square.T, square - square.T, sp.eye(5), sp.eye(4, dtype="i4")]:
        scipy.io.mmwrite(folder / "m.mtx", symmetric, precision=17)
        check_matrix(dump, folder / "m.mtx", symmetric)


def refuse_other_matrices(dump, folder, rng):
    for name in ["coo", "csc", "bsr", "dia"]:
        sp.save_npz(folder / "m.npz", sp.random(8, 8, 0.2, name, random_state=rng))
        result = subprocess.run([dump, folder / "m.npz"], capture_output=True, text=True)
        assert result.returncode == 2 and f"'{name}'" in result.stderr, result
        assert result.stderr.count("\n") == 1 and not result.stdout, result


def write_all(dump, folder, rng):
    def write(source, target):
        subprocess.run([dump, folder / source, folder / target], check=True)

    for shape in [(1,), (3, 5), (2, 3, 4, 5), (0, 2)]:
        array = rng.standard_normal(shape).astype("f4")
        array[array < 0] = 0
        np.save(folder / "a.npy", array)
        write("a.npy", "b.npy")
        again = np.load(folder / "b.npy")
        assert again.shape == shape and again.dtype == np.float32 and np.array_equal(again, array)
        rows = array.reshape(shape[0], -1) if array.size else array
        write("a.npy", "b.npz")
        write("a.npy", "b.mtx")
        assert np.array_equal(sp.load_npz(folder / "b.npz").toarray(), rows)
        if array.size:  # scipy's mmread takes no matrix without rows
            assert np.array_equal(scipy.io.mmread(folder / "b.mtx").toarray().astype("f4"), rows)
    for matrix in matrices(rng):
        matrix = matrix.astype("f4")
        sp.save_npz(folder / "m.npz", matrix)
        write("m.npz", "n.npz")
        write("m.npz", "n.npy")
        loaded = sp.load_npz(folder / "n.npz")
        loaded.check_format()
        assert loaded.format == "csr" and loaded.dtype == np.float32
        assert np.array_equal(loaded.indices, matrix.indices)
        assert np.array_equal(loaded.toarray(), matrix.toarray())
        assert np.array_equal(np.load(folder / "n.npy"), matrix.toarray())


def main(dump):
    rng = np.random.RandomState(7)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        read_arrays(dump, folder, rng)
        read_matrices(dump, folder, rng)
        refuse_other_matrices(dump, folder, rng)
        write_all(dump, folder, rng)
    print("numpy and scipy agree")


if __name__ == "__main__":
    main(sys.argv[1])
