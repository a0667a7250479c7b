"""Arrays from strangers: what is not a plain array of numbers, or claims more than the file holds, is one line."""

import gzip
import io
import os
import resource
import struct
import subprocess
import sys
import time
import warnings
import zipfile

import numpy as np
import pytest
from helpers.scope import size

from ogive.errors import DataError, ParameterError
from ogive.pate.votes import array_names, read_array, read_votes

VOTES = np.array([[3, 7], [10, 0], [4, 6]])


def saved(array, **options):
    """The bytes of an .npy file."""
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def header(text, *, version=1, length=None):
    """The bytes of an .npy file that begins with a hand-written header, and nothing behind it."""
    content = text.encode("latin1")
    width = "<H" if version == 1 else "<I"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack(width, len(content) if length is None else length) + content


def archived(members, compression=zipfile.ZIP_DEFLATED):
    """The bytes of an .npz file of named contents."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two of a name
        for name, content in members:
            archive.writestr(name, content)
    return file.getvalue()


def patched(content, signature, offset, new):
    """An archive with some bytes of its first local or central header replaced."""
    place = content.index(signature) + offset
    return content[:place] + new + content[place + len(new) :]


def claims(shape, descr="<i8"):
    return f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}"


@pytest.mark.parametrize("kind", ["<i8", ">i8", ">f4", "<u2", "|u1", ">u4", "<f2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_order_of_bytes_and_axes_reads_as_numpy_reads_it(tmp_path, kind, order):
    array = np.asarray(VOTES.astype(kind), order=order)
    np.save(tmp_path / "votes.npy", array)
    np.savez_compressed(tmp_path / "votes.npz", votes=array)
    for name in ("votes.npy", "votes.npz"):
        found = read_array(tmp_path / name, None)
        assert found.dtype.isnative
        assert np.array_equal(found, VOTES)
        assert np.array_equal(read_votes(tmp_path / name), VOTES)


@pytest.mark.parametrize("array", [np.array(5.0), np.zeros((0, 3)), np.array([True, False]), np.zeros((2, 3, 4))])
def test_arrays_of_other_shapes_read_back(tmp_path, array):
    np.save(tmp_path / "array.npy", array)
    found = read_array(tmp_path / "array.npy", None)
    assert found.shape == array.shape
    assert found.dtype == array.dtype


HOSTILE = {
    "nothing": b"",
    "magic alone": b"\x93NUMPY",
    "version 9": b"\x93NUMPY\x09\x00",
    "no header": header(""),
    "claims a header of 4 GB": header("{", version=2, length=2**32 - 1),
    "claims an exabyte": header(claims((2**60,))),
    "claims 1 TB": header(claims((2**37,))) + b"\0" * 64,
    "claims one number more": header(claims((3,))) + b"\0" * 16,
    "axes overflow": header(claims((2**62, 2**62, 0))),
    "negative axis": header(claims((-1, 2))) + b"\0" * 64,
    "two negative axes": header(claims((-1, -2))) + b"\0" * 64,
    "axis is true": header(claims((True, 2))) + b"\0" * 64,
    "many axes": header(claims((1,) * 64)) + b"\0" * 8,
    "objects": saved(np.array([None, 1], object), allow_pickle=True),
    "structured": saved(np.zeros(2, [("a", "i8"), ("b", "f8")])),
    "text": saved(np.array(["x", "y"])),
    "void": saved(np.zeros(2, "V8")),
    "complex": saved(np.zeros(2, complex)),
    "time": saved(np.zeros(2, "M8[s]")),
    "sub-array": header("{'descr': ('<i8', (2,)), 'fortran_order': False, 'shape': (2,), }") + b"\0" * 64,
    "wide text": header(claims((1,), "<U99999999")) + b"\0" * 64,
    "truth values of 7": header(claims((2,), "|b1")) + b"\x07\x01",
    "nested header": header("(" * 9000),
    "nested lists": header("[" * 4000 + "]" * 4000),
    "signs": header("-" * 9000 + "1"),
    "half a line": header("{'descr': '<i8', 'fortran_order': False,\n  'shape': (3,"),
    "bad indentation": header("  {\n 'descr'\n   : 1L}"),
    "code": header("__import__('os').abort()"),
    "bytes of a pickle": b"\x80\x04\x95\x00\x00\x00\x00",
    "shape of text": header("{'descr': '<i8', 'fortran_order': False, 'shape': 'xy', }"),
    "half an archive": archived([("votes.npy", saved(VOTES))])[:-30],
    "no members": archived([]),
    "text in an archive": archived([("votes.txt", b"1,2")]),
    "two of a name": archived([("votes.npy", saved(VOTES)), ("votes.npy", saved(VOTES + 1))]),
    "cut short in an archive": archived([("votes.npy", saved(VOTES)[:-8])]),
    "encrypted": patched(archived([("votes.npy", saved(VOTES))]), b"PK\x01\x02", 8, b"\x01\x00"),
    "unknown compression": patched(archived([("votes.npy", saved(VOTES))]), b"PK\x01\x02", 10, b"\x63\x00"),
    "lzma": archived([("votes.npy", saved(VOTES))], zipfile.ZIP_LZMA),
    "wrong checksum": patched(archived([("votes.npy", saved(VOTES))]), b"PK\x01\x02", 16, b"\x01\x02\x03\x04"),
    "damaged stream": patched(archived([("votes.npy", saved(VOTES))]), b"votes.npy", 9, b"\xff" * 20),
    "claims a member of 4 GB": patched(archived([("votes.npy", saved(VOTES))]), b"PK\x01\x02", 24, b"\xfe\xff\xff\xff"),
    "stored and claims more": patched(
        archived([("votes.npy", saved(VOTES))], zipfile.ZIP_STORED), b"PK\x01\x02", 24, b"\xff\xff\x0f\x00"
    ),
    "begins elsewhere": patched(archived([("votes.npy", saved(VOTES))]), b"PK\x01\x02", 42, b"\xf0\xff\x00\x00"),
    "claims zip64": patched(archived([("votes.npy", saved(VOTES))]), b"PK\x05\x06", 12, b"\xff" * 8),
    "compressed with gzip": gzip.compress(saved(VOTES)),
}


@pytest.mark.parametrize("suffix", ["npy", "npz"])
@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_are_one_line(tmp_path, content, suffix):
    path = tmp_path / f"votes.{suffix}"
    path.write_bytes(content)
    begun = time.thread_time()  # a pool of an earlier test may be at work beside it
    for read in (lambda: read_array(path, None), lambda: read_votes(path)):
        with pytest.raises(DataError) as caught:
            read()
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)
    assert time.thread_time() - begun < 5  # a machine that does other work stretches processor time, too


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "votes.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("votes.npy", "w") as member:
        bits = size(28, part=26)
        member.write(header(claims((1 << bits, 1), "|u1")))
        for _ in range(1 << bits - 20):
            member.write(b"\0" * (1 << 20))
    assert path.stat().st_size < 1 << 20
    with pytest.raises(DataError, match="would unpack to more than 100 times its size"):
        read_array(path, None)


@pytest.mark.skipif(sys.platform == "win32", reason="limits are those of POSIX")
def test_what_does_not_fit_into_memory_is_one_line(tmp_path):
    path = tmp_path / "votes.npy"
    path.write_bytes(header(claims((1 << 32, 1), "|u1")))
    os.truncate(path, 1 << 33)  # sparse: no byte of it is on the disk
    code = (
        "import resource, sys; from ogive.pate import read_votes\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))\n"
        "try: read_votes(sys.argv[1])\n"
        "except ValueError as problem: print(type(problem).__name__, problem)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == f"DataError {path} does not fit into the memory of this machine\n"


def test_hostile_headers_take_no_memory(tmp_path):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number, content in enumerate(HOSTILE.values()):
        path = tmp_path / f"{number}.npz"
        path.write_bytes(content)
        with pytest.raises(DataError):
            read_array(path, None)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024  # in kB


def test_pipes_and_folders_are_refused_at_once(tmp_path):
    pipe = tmp_path / "pipe.npy"
    os.mkfifo(pipe)
    with pytest.raises(DataError, match="is a pipe or a device; name a file"):
        read_array(pipe, None)
    with pytest.raises(DataError, match="is a folder; name a file"):
        read_array(tmp_path, None)


def test_names_of_arrays_are_listed_and_asked_for(tmp_path):
    path = tmp_path / "votes.npz"
    np.savez(path, first=VOTES, second=VOTES + 1)
    assert array_names(path) == ("first", "second")
    assert np.array_equal(read_array(path, "second"), VOTES + 1)
    with pytest.raises(ParameterError, match="say which with name: first, second"):
        read_array(path, None)
    with pytest.raises(ParameterError, match="holds no array 'third'; it holds first, second"):
        read_array(path, "third")
