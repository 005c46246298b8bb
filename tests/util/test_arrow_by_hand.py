"""Tables of Arrow from buffers, and back: rows, numbers, words, files, by hand."""

import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock._util import arrow
from ackclock._util.arrow import Tables
from ackclock.errors import AckclockError

NAN = float("nan")
NAMES = {"flow": ["web", "bulk"], "link": ["a->b"]}


def raw():
    """Columns as the core gives them."""
    return {
        "time_s": memoryview(np.array([0.5, NAN, 2.0])),
        "flow": memoryview(np.array([1, 0, 1], dtype=np.uint32)),
        "kind": ["loss", "ecn", "loss"],
        "id": ["x", "y", "z"],
        "packets": memoryview(np.array([3, 4, 5], dtype=np.uint64)),
    }


ROWS = [
    {"time_s": 0.5, "flow": "bulk", "kind": "loss", "id": "x", "packets": 3},
    {"time_s": None, "flow": "web", "kind": "ecn", "id": "y", "packets": 4},
    {"time_s": 2.0, "flow": "bulk", "kind": "loss", "id": "z", "packets": 5},
]


def test_a_table_of_the_core_has_names_for_numbers_and_null_for_what_is_not_known():
    tables = Tables({"drops": raw()}, NAMES)
    # Row by row it needs no table, and is the same after it is there.
    assert tables.rows("drops") == ROWS
    assert arrow.rows_of(tables, "drops") == ROWS
    assert tables.raw("drops")[1] is NAMES
    made = tables["drops"]
    assert made.to_pylist() == ROWS
    assert made["time_s"].null_count == 1
    assert tables.raw("drops") is None
    assert tables["drops"] is made
    assert tables.rows("drops") == ROWS
    assert arrow.rows_of({"drops": made}, "drops") == ROWS
    types = {field.name: field.type for field in made.schema}
    assert pa.types.is_dictionary(types["flow"])
    assert pa.types.is_dictionary(types["kind"])
    assert types["id"] == pa.string()
    assert types["packets"] == pa.uint64()
    assert made["kind"].chunk(0).dictionary.to_pylist() == ["loss", "ecn"]


def test_words_in_the_place_of_numbers_stay_as_they_are():
    made = arrow.join_columns({"flow": ["bulk", "bulk"]}, NAMES)
    assert made.to_pylist() == [{"flow": "bulk"}] * 2
    assert Tables({"t": {"flow": ["bulk"]}}, NAMES).rows("t") == [{"flow": "bulk"}]


def test_tables_are_a_mapping_in_the_order_that_is_put():
    tables = Tables({"a": raw(), "b": raw(), "c": raw()}, NAMES)
    assert "a" in tables
    assert "d" not in tables
    tables.arrange(["b", "d", "a"])
    assert list(tables) == ["c", "b", "a"]
    tables.put("d", {"x": ["u"]})
    assert (len(tables), list(tables)) == (4, ["c", "b", "a", "d"])
    first = tables["a"]
    tables.put("a", {"x": ["v"]})
    assert tables["a"].to_pylist() == [{"x": "v"}] != first.to_pylist()
    assert list(tables) == ["c", "b", "a", "d"]


@pytest.mark.parametrize("is_converted", [False, True])
def test_rows_that_are_left_out_are_gone_whether_the_table_is_there_or_not(is_converted):
    tables = Tables({"drops": raw()}, NAMES)
    if is_converted:
        assert tables["drops"].num_rows == 3
    tables.keep("drops", [True, False, True])
    assert tables["drops"].to_pylist() == [ROWS[0], ROWS[2]]
    tables.keep("drops", [False, True])
    assert tables.rows("drops") == [ROWS[2]]


def test_tables_go_to_another_process_as_they_are():
    tables = Tables({"drops": raw(), "done": arrow.join_columns(raw(), NAMES)}, NAMES)
    copied = pickle.loads(pickle.dumps(tables))
    assert copied.rows("drops") == ROWS
    assert copied["drops"].to_pylist() == ROWS
    assert copied["done"].to_pylist() == ROWS
    assert copied["drops"]["packets"].type == pa.uint64()


def test_a_table_in_a_file_is_read_when_it_is_used_and_without_some_columns(tmp_path):
    made = arrow.join_columns(raw(), NAMES)
    file = tmp_path / "time=1" / "drops.parquet"
    file.parent.mkdir()
    pq.write_table(made, file, row_group_size=2)
    tables = Tables({"plain": raw()}, NAMES)
    tables.put_file("drops", file, without=("kind", "absent"))
    assert tables.file("drops") == file
    assert tables.file("plain") is None
    assert tables.raw("drops") is None
    left = [{key: row[key] for key in ("time_s", "flow", "id", "packets")} for row in ROWS]
    assert tables["drops"].to_pylist() == left
    assert tables.rows("drops") == left
    # Copied it has the same rows in the same groups; a table in memory is written.
    tables.copy_to("drops", tmp_path / "copy.parquet")
    with pq.ParquetFile(tmp_path / "copy.parquet") as copy:
        assert copy.read().to_pylist() == left
        assert copy.num_row_groups == 2
    tables.copy_to("plain", tmp_path / "plain.parquet")
    with pq.ParquetFile(tmp_path / "plain.parquet") as copy:
        assert copy.read().to_pylist() == ROWS
    tables.keep("plain", [True, False, False])
    pq.write_table(made.slice(0, 1), file)
    assert tables["drops"].to_pylist() == left[:1]
    file.write_bytes(b"")
    file.unlink()
    with pytest.raises(AckclockError) as caught:
        _ = tables["drops"]
    assert str(caught.value).startswith(
        f"{file}, in which the run's table drops is, cannot be read: "
    )
    tables.put("drops", {"x": ["u"]})
    assert tables.file("drops") is None


def test_tables_of_many_runs_are_joined_by_names_not_by_numbers():
    one = {"flow": np.array([0, 1], dtype=np.uint32), "kind": ["a", "b"], "x": np.array([1.0, 2.0])}
    two = {"flow": np.array([0, 1, 0], dtype=np.uint32), "kind": ["b", "c", "a"],
           "x": np.array([3.0, NAN, 5.0])}  # fmt: skip
    merged, lengths = arrow.merge_raw_tables(
        [(one, {"flow": ["web", "bulk"]}), (two, {"flow": ["bulk", "voice"]})]
    )
    assert lengths == [2, 3]
    assert merged.to_pydict() == {
        "flow": ["web", "bulk", "bulk", "voice", "bulk"],
        "kind": ["a", "b", "b", "c", "a"],
        "x": [1.0, 2.0, 3.0, None, 5.0],
    }
    assert merged["flow"].chunk(0).dictionary.to_pylist() == ["web", "bulk", "voice"]
    same, lengths = arrow.merge_raw_tables([(one, NAMES), (one, NAMES)])
    assert same["flow"].to_pylist() == ["web", "bulk"] * 2
    assert lengths == [2, 2]
    assert arrow.merge_raw_tables([(one, NAMES), ({"x": two["x"]}, NAMES)]) is None


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["a", None, "", "ü€"], pa.string(), ["a", None, "", "ü€"]),
        ([None] * 9, pa.string(), [None] * 9),
        ([], pa.string(), []),
        (np.array([True, False] * 5), pa.bool_(), [True, False] * 5),
        (np.array([1.5, NAN, np.inf]), pa.float64(), [1.5, None, np.inf]),
        (np.array([1.5, NAN], dtype=np.float32), pa.float32(), [1.5, None]),
        (np.array([3, -4], dtype=np.int16), pa.int16(), [3, -4]),
        (np.arange(6)[::2], pa.int64(), [0, 2, 4]),
    ],
    ids=str,
)
def test_an_array_has_the_type_and_the_values_of_a_column(values, kind, expected):
    made = arrow.array(values)
    made.validate(full=True)
    assert made.type == kind
    assert made.to_pylist() == expected


@given(st.lists(st.none() | st.floats(allow_nan=False), max_size=40), st.data())
def test_numbers_are_those_of_the_column_wherever_it_begins_and_is_cut(values, data):
    whole = pa.array(values, pa.float64())
    begin = data.draw(st.integers(0, len(values)))
    cut = data.draw(st.integers(begin, len(values)))
    expected = [NAN if value is None else value for value in values]
    assert np.array_equal(arrow.numbers(whole), expected, equal_nan=True)
    assert np.array_equal(arrow.numbers(whole.slice(begin)), expected[begin:], equal_nan=True)
    column = pa.chunked_array([whole.slice(begin, cut - begin), whole.slice(cut)], pa.float64())
    assert np.array_equal(arrow.numbers(column), expected[begin:], equal_nan=True)


def test_numbers_of_no_chunk_are_none_and_whole_numbers_stay_whole():
    assert arrow.numbers(pa.chunked_array([], pa.float64())).tolist() == []
    counted = arrow.numbers(pa.array([1, 2, 3], pa.int32()).slice(1))
    assert (counted.tolist(), counted.dtype) == ([2, 3], np.int32)
    # One that is not known makes them real.
    assert np.array_equal(arrow.numbers(pa.array([1, None])), [1.0, NAN], equal_nan=True)


def test_rows_are_plain_data_and_whole_numbers_stay_whole_beside_one_that_is_not_known():
    table = pa.table(
        {
            "n": pa.array([1, None, 3]), "k": pa.array([1, 2, 3], pa.uint8()),
            "x": pa.array([0.5, None, 2.0]), "b": pa.array([True, None, False]),
            "w": pa.array(["a", "b", None]),
        }
    )  # fmt: skip
    rows = arrow.rows(table)
    assert rows == table.to_pylist()
    assert [type(row["n"]) for row in rows] == [int, type(None), int]
    assert [type(row["x"]) for row in rows] == [float, type(None), float]
    assert type(rows[0]["k"]) is int


def test_columns_of_words_become_text_and_others_stay():
    table = arrow.table(
        {"w": arrow.words(["a", "b"], np.array([1, 0, 1])), "x": arrow.array(np.array([1.0] * 3))}
    )
    plain = arrow.plain_words(table)
    assert plain.schema == pa.schema({"w": pa.string(), "x": pa.float64()})
    assert plain.to_pydict() == {"w": ["b", "a", "b"], "x": [1.0] * 3}
