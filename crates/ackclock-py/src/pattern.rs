//! Traffic patterns for Python: the flows that a pattern draws, as three arrays.

use ackclock_core::api;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

/// Senders, receivers and weights of the flows drawn.
type Drawn<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);

/// The flows that a traffic pattern draws among so many hosts: senders, receivers, weights.
#[pyfunction]
#[pyo3(signature = (json, hosts, flows, seed))]
pub(crate) fn pattern<'py>(
    py: Python<'py>,
    json: &str,
    hosts: u32,
    flows: Option<u32>,
    seed: u64,
) -> PyResult<Drawn<'py>> {
    let pairs = py
        .detach(|| api::pattern(json, hosts, flows, seed))
        .map_err(|problems| crate::input_error(&problems))?;
    let from: Vec<u32> = pairs.iter().map(|d| d.from).collect();
    let to: Vec<u32> = pairs.iter().map(|d| d.to).collect();
    let weight: Vec<f64> = pairs.iter().map(|d| d.weight).collect();
    Ok((from.into_pyarray(py), to.into_pyarray(py), weight.into_pyarray(py)))
}
