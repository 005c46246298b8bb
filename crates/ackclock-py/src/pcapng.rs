//! Recorded packets as a capture: columns of the table `packets` in, a file out.

use ackclock_core::api::pcapng::{self, CapturedFlow, Packets};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Hosts, port, whether QUIC and timestamps, MSS, number of the first segment, number and size of the last.
type FlowRow = ([u32; 2], u16, bool, bool, u32, u32, Option<(u32, u32)>);

/// Bytes of the largest data packet and of a bare acknowledgement, number and bytes of the last segment, whether there is a SYN.
type SizesRow = (u32, u32, Option<(u32, u32)>, bool);

/// The table `packets`, to be written as a capture.
#[pyclass(frozen, module = "ackclock._core")]
pub(crate) struct PacketRows(Packets);

#[pymethods]
impl PacketRows {
    /// Takes columns that have the buffer protocol: `time_s`, of doubles, and others of `uint32` or `uint8`.
    #[new]
    fn new(columns: &Bound<'_, PyDict>) -> PyResult<Self> {
        let bools = |name: &str| -> PyResult<Vec<bool>> {
            Ok(required::<u8>(columns, name)?.into_iter().map(|byte| byte != 0).collect())
        };
        let mut packets = Packets {
            time_s: required(columns, "time_s")?,
            link: required(columns, "link")?,
            flow: required(columns, "flow")?,
            is_departure: bools("is_departure")?,
            is_ack: bools("is_ack")?,
            seq: required(columns, "seq")?,
            flags: required(columns, "flags")?,
            size: required(columns, "size_bytes")?,
            sack_count: column(columns, "sack_count")?.unwrap_or_default(),
            ..Packets::default()
        };
        for (number, ends) in (1..).zip(&mut packets.sack) {
            for (end, values) in ["start", "end"].into_iter().zip(ends) {
                *values = column(columns, &format!("sack{number}_{end}"))?.unwrap_or_default();
            }
        }
        let stamps = [column(columns, "stamp_value")?, column(columns, "stamp_echo")?];
        if let [Some(values), Some(echoes)] = stamps {
            packets.stamps = Some([values, echoes]);
        }
        Ok(Self(packets))
    }

    /// What the packets of each flow show of its sizes.
    fn sizes(&self, flows: usize) -> Vec<SizesRow> {
        let sizes = self.0.sizes(flows).into_iter();
        sizes.map(|flow| (flow.largest, flow.bare, flow.last, flow.has_syn)).collect()
    }

    /// How many packets left each link.
    fn departures(&self, links: usize) -> Vec<u64> {
        self.0.departures(links)
    }

    /// The packets that left some links, as a file.
    fn write<'py>(
        &self,
        py: Python<'py>,
        flows: Vec<FlowRow>,
        interfaces: Vec<(u32, String)>,
        program: &str,
        comment: &str,
    ) -> Bound<'py, PyBytes> {
        let flows: Vec<CapturedFlow> = flows
            .into_iter()
            .map(|(hosts, port, is_quic, has_timestamps, mss, first, last)| CapturedFlow {
                hosts,
                port,
                is_quic,
                has_timestamps,
                mss,
                first,
                last,
            })
            .collect();
        let file = py.detach(|| pcapng::write(&self.0, &flows, &interfaces, program, comment));
        PyBytes::new(py, &file)
    }
}

/// A column of a table; none if the table does not have it.
fn column<T: Element>(columns: &Bound<'_, PyDict>, name: &str) -> PyResult<Option<Vec<T>>> {
    let Some(values) = columns.get_item(name)? else { return Ok(None) };
    // The memory of an empty buffer may be anywhere, so that its alignment would be refused.
    if values.len()? == 0 {
        return Ok(Some(Vec::new()));
    }
    PyBuffer::<T>::get(&values)?.to_vec(columns.py()).map(Some)
}

fn required<T: Element>(columns: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<T>> {
    column(columns, name)?.ok_or_else(|| PyKeyError::new_err(name.to_owned()))
}
