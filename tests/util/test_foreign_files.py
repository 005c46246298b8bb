"""Files from somebody else: what reading them leaves behind."""

import io
import threading

import pyarrow as pa
import pyarrow.parquet as pq

from ackclock._util import foreign_files


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
