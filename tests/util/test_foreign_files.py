"""Files from somebody else: what reading them leaves behind."""

import bz2
import gzip
import io
import json
import lzma
import threading
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ackclock._util import foreign_files
from ackclock._util.csv_rows import CsvError, rows
from ackclock._util.documents import read_document
from ackclock._util.json_text import MOST_DEEP, JsonError, parse_json
from ackclock.captures.read.read import read_trace
from ackclock.captures.trace import CaptureError
from ackclock.errors import AckclockError, ScenarioError
from ackclock.scenario.paths.measurement import Layout
from ackclock.scenario.paths.measurement_files import read_measurements


def test_a_table_is_read_by_the_thread_that_requests_it(tmp_path, monkeypatch):
    # What Arrow's own threads hold of a file they give back after the call, in a process that may
    # be ending: Python ends such a thread, and C++ the process, with SIGABRT.
    pq.write_table(pa.table({f"c{i}": range(20_000) for i in range(20)}), tmp_path / "t.parquet")
    readers = set()

    class Watched(io.FileIO):
        def read(self, size=-1):
            readers.add(threading.get_ident())
            return super().read(size)

    monkeypatch.setattr(foreign_files, "open_file", Watched)
    assert foreign_files.read_table(tmp_path / "t.parquet").num_rows == 20_000
    assert readers == {threading.get_ident()}


def zipped(content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.csv", content)
    return packed.getvalue() + b"\xff"


def parquet(_):
    written = io.BytesIO()
    pq.write_table(pa.table({"at": [1.5]}), written)
    return written.getvalue() + b"\xff"


PACKED = {
    "packed with gzip": gzip.compress,
    "packed with zstd": lambda content: pa.compress(content, "zstd", asbytes=True),
    "packed with xz": lzma.compress,
    "packed with bzip2": bz2.compress,
    "a ZIP archive or a spreadsheet": zipped,
    "a Parquet file": parquet,
}


@pytest.mark.parametrize("kind", PACKED)
def test_what_is_packed_where_text_is_expected_is_named(kind, tmp_path):
    """Wherever text is read: a document, lines, a table, a network."""
    file = tmp_path / "x.csv"
    file.write_bytes(PACKED[kind](bytes(range(32, 127)) * 3))
    message = f"is {kind}; expected UTF-8 text"
    for read, error in (
        (foreign_files.read_text, foreign_files.ForeignFileError),
        (rows, CsvError),
        (read_document, ScenarioError),
    ):
        with pytest.raises(error, match=message):
            read(file)


def test_bytes_that_are_nothing_known_are_no_text(tmp_path):
    (tmp_path / "x").write_bytes(b"a = '\xff'")
    with pytest.raises(foreign_files.ForeignFileError, match="it is not UTF-8 text"):
        foreign_files.read_text(tmp_path / "x")


def levels(count, inner="1"):
    return "[" * count + inner + "]" * count


def test_json_is_read_up_to_the_bound_and_refused_beyond_it():
    assert parse_json(levels(MOST_DEEP)) == json.loads(levels(MOST_DEEP))
    for text in (
        levels(MOST_DEEP + 1),
        levels(100_000),
        "[" * 100_000,
        '{"a":' * 200 + "1" + "}" * 200,
    ):
        with pytest.raises(JsonError, match="nested more than 100 levels deep; expected a few"):
            parse_json(text)
    with pytest.raises(JsonError, match="it is not JSON: "):
        parse_json(b"\xff{")


DEEP = levels(MOST_DEEP + 1)


@pytest.mark.parametrize(
    "content",
    [
        DEEP,
        f'{{"qlog_version": "0.3", "traces": {DEEP}}}',
        f'{{"intervals": {DEEP}}}',
        f'{{"x_values": [], "results": {{"a": {DEEP}}}}}',
    ],
    ids=["list", "qlog", "iperf3", "flent"],
)
def test_a_deep_log_is_refused_with_the_same_words(content, tmp_path):
    (tmp_path / "x").write_text(content)
    with pytest.raises(CaptureError, match=r"x: its tables and lists are nested more than 100"):
        read_trace(tmp_path / "x")


def test_a_deep_measurement_is_refused_with_the_same_words(tmp_path):
    for key in ("round_trips", "intervals"):
        (tmp_path / "x").write_text(f'{{"{key}": {DEEP}}}')
        with pytest.raises(AckclockError, match="x: its tables and lists are nested more than 100"):
            read_measurements(tmp_path / "x", "auto", Layout(), "net.file")
