"""CSV as spreadsheets write it is read as the same numbers, or refused with what is unclear."""

import csv
import io
import itertools

import numpy as np
import pytest

from ackclock._util import csv_rows
from ackclock.scenario import plain_csv
from ackclock.scenario.networks.graph_import import from_csv
from ackclock.studies.bottlenecks.demands import read_series
from ackclock.studies.bottlenecks.operators import read_network

RATES = [2.5e9, 1.25e9, 12345.5e6]
DELAYS = [0.0025, 0.01, 1.5]
LENGTHS = [120.5, 7.25, 1000.125]
ENDS = [("a", "b"), ("b", "c"), ("a", "c")]
FORMS = list(
    itertools.product(
        [",", ";", "\t", "|"], [".", ","], ["utf-8", "utf-8-sig", "utf-16"],
        ["plain", "head", "round", "name", "cell", "capitals"],
    )
)  # fmt: skip


def table(columns, separator, decimal, units):
    """CSV of columns: name, quantity, values; units are where they are said to be."""
    in_head = {"rate": ("Gbit/s", 1e9), "duration": ("ms", 1e-3), "length": ("m", 1e-3)}
    heads, written = [], []
    for name, quantity, values in columns:
        stem = name.rpartition("_")[0]
        unit, factor = in_head.get(quantity, ("", 1.0))
        head, cells = name, [v if isinstance(v, str) else repr(v) for v in values]
        if quantity and units != "plain":
            head = {
                "head": f"{stem} [{unit}]",
                "round": f"{stem.capitalize()} ({unit})",
                "name": f"{stem}_{unit.lower().replace('gbit/s', 'gbps')}",
                "cell": stem,
                "capitals": name.upper(),
            }[units]
            if units != "capitals":
                cells = [repr(v / factor) for v in values]
            if units == "cell":
                cells = [f"{cell} {unit}" for cell in cells]
        elif units == "capitals":
            head = name.capitalize()
        if quantity:
            cells = [cell.replace(".", decimal) for cell in cells]
        heads.append(head)
        written.append(cells)
    text = io.StringIO()
    rows = csv.writer(text, delimiter=separator)
    rows.writerows([heads, *zip(*written, strict=True), [""] * len(heads)])
    return text.getvalue()


def write(folder, separator, decimal, encoding, units):
    ends = [("source", "", [a for a, _ in ENDS]), ("target", "", [b for _, b in ENDS])]
    edges = [*ends, ("capacity_bps", "rate", RATES), ("delay_s", "duration", DELAYS),
             ("length_km", "length", LENGTHS)]  # fmt: skip
    files = {
        "nodes.csv": "id\na\nb\nc\n",
        "edges.csv": table(edges, separator, decimal, units),
        "demands.csv": table([*ends, ("demand_bps", "rate", RATES)], separator, decimal, units),
    }
    for name, text in files.items():
        (folder / name).write_bytes(text.encode(encoding))


@pytest.mark.parametrize("form", FORMS, ids=repr)
@pytest.mark.parametrize("least_bytes", [0, plain_csv.LEAST_BYTES])
def test_every_form_of_a_table_is_the_same_network_and_the_same_demands(
    tmp_path, form, least_bytes, monkeypatch
):
    monkeypatch.setattr(plain_csv, "LEAST_BYTES", least_bytes)
    write(tmp_path, *form)
    network = read_network(tmp_path)
    np.testing.assert_allclose(network.graph.capacity[::2], RATES, rtol=1e-15)
    np.testing.assert_allclose(
        read_series(network, tmp_path / "demands.csv").volume[0], RATES, rtol=1e-15
    )
    links = from_csv(tmp_path).to_data()["links"]
    assert [link["rate"] for link in links] == [round(rate) for rate in RATES]
    np.testing.assert_allclose([link["delay"] for link in links], DELAYS, rtol=1e-15)


def read(tmp_path, text, *needed):
    path = tmp_path / "f.csv"
    path.write_text(text)
    quantities = {"capacity_bps": "rate", "delay_s": "duration", "length_km": "length"}
    return csv_rows.rows(path, *needed, quantities=quantities)


def test_a_length_without_a_delay_counts_in_its_unit(tmp_path):
    (tmp_path / "nodes.csv").write_text("id\na\nb\n")
    (tmp_path / "edges.csv").write_text("source;target;length [m]\na;b;200000,0\n")
    assert from_csv(tmp_path, rate="1 Gbps").to_data()["links"][0]["delay"] == 0.001


def test_the_line_for_spreadsheets_is_no_head(tmp_path):
    assert read(tmp_path, "sep=;\ncapacity_bps;x\n2,5;1\n") == [
        (3, {"capacity_bps": "2.5", "x": "1"})
    ]


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1.234,5", "0,25"], ["1234.5", "0.25"]),
        (['"1,234.5"', '"1,234"'], ["1234.5", "1234"]),
        (['"1,234,567"', "7"], ["1234567", "7"]),
        (['"2,5"', '"1,234"'], ["2.5", "1.234"]),
        (["1.234", "7.5"], ["1.234", "7.5"]),
    ],
)
def test_commas_of_numbers_are_read_as_the_file_shows_they_are_meant(tmp_path, cells, numbers):
    separator = ";" if '"' not in "".join(cells) else ","
    text = separator.join(["capacity_bps", "x"]) + "\n"
    text += "".join(f"{cell}{separator}1\n" for cell in cells)
    assert [row["capacity_bps"] for _, row in read(tmp_path, text)] == numbers


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('capacity_bps,x\n"1,234",1\n', '"1,234" may be 1.234 or 1234; expected one without a'),
        ("capacity_bps;x\n2,5;1\n1.234;1\n", '"1.234" has a point, and others have decimal'),
        ('capacity_bps,x\n"1,234.5",1\n"2,5",1\n', "use commas in two ways"),
        ("capacity [MB/s];x\n2;1\n", '"MB/s" of the column "capacity [MB/s]" is no unit of a rate'),
        ("delay;x\n20;1\n", 'delay is "20" without a unit; expected one in the cell or the head'),
        ("delay [ms];delay_us\n20;1\n", '"delay [ms]" and "delay_us" are both delay_s'),
        ("capacity_bps;capacity_bps\n20;1\n", '"capacity_bps" and "capacity_bps" are both'),
    ],
)
def test_what_may_be_read_in_two_ways_is_refused(tmp_path, text, message):
    with pytest.raises(csv_rows.CsvError) as error:
        read(tmp_path, text)
    assert message in str(error.value)


def test_text_of_another_code_page_is_refused_with_what_to_save(tmp_path):
    (tmp_path / "f.csv").write_bytes("id;name\n1;Köln\n".encode("cp1252"))
    with pytest.raises(csv_rows.CsvError, match="CSV UTF-8"):
        csv_rows.rows(tmp_path / "f.csv", ("id",))


def test_a_head_that_is_a_unit_alone_is_the_one_column_of_rates(tmp_path):
    file = tmp_path / "demands.csv"
    file.write_text("From;To;Mbit/s\na;b;7100,5\nb;a;2\n", "utf-8")
    needed = (("source", "from"), ("target", "to"), ("demand_bps", "demand"))
    found = csv_rows.rows(file, *needed, quantities={"demand_bps": "rate", "demand": "rate"})
    assert [float(row["demand_bps"]) for _, row in found] == [7100.5e6, 2e6]
    file.write_text("From;To;amount\na;b;7100,5\n", "utf-8")
    with pytest.raises(csv_rows.CsvError, match="demand_bps; the columns are From, To, amount"):
        csv_rows.rows(file, *needed, quantities={"demand_bps": "rate", "demand": "rate"})
