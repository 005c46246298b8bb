//! Quantities as the core reads them.

use ackclock_core::registry;
use ackclock_core::units::{self, BufferSize};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Units of a quantity (`duration`, `rate`, `size`) with their factors to s, bit/s, B.
#[pyfunction]
pub fn units_of(what: &str) -> Vec<(&'static str, f64)> {
    units::units(what).to_vec()
}

/// A quantity given as text, in s, bit/s or B. Raises `ValueError` with one sentence.
#[pyfunction]
pub fn quantity(text: &str, what: &str) -> PyResult<f64> {
    units::quantity(text, what).map_err(PyValueError::new_err)
}

/// A buffer size given as text: a number, and `packets`, `bytes`, `seconds`, `bdp` or `unlimited`.
///
/// Raises `ValueError` with one sentence.
#[pyfunction]
pub fn buffer_size(text: &str) -> PyResult<(f64, &'static str)> {
    let size: BufferSize = text.parse().map_err(PyValueError::new_err)?;
    Ok(match size {
        BufferSize::Packets(n) => (f64::from(n), "packets"),
        BufferSize::Bytes(n) => (n as f64, "bytes"),
        BufferSize::Seconds(s) => (s, "seconds"),
        BufferSize::Bdp(n) => (n, "bdp"),
        BufferSize::Unlimited => (f64::INFINITY, "unlimited"),
    })
}

/// The warm-up of values at equal intervals: how many to leave out, the mean of all and of the others, and whether it
/// is half of them and so may be longer; none where there is none.
#[pyfunction]
pub fn find_warm_up(values: Vec<f64>) -> Option<(usize, f64, f64, bool)> {
    let warm_up = ackclock_core::warm_up::find_warm_up(&values)?;
    Some((warm_up.length, warm_up.mean, warm_up.mean_after, warm_up.is_longer))
}

/// The range that a JSON Schema gives a value, in words and with its unit; none if it has no bound.
///
/// Raises `ValueError` if the text is not JSON.
#[pyfunction]
pub fn range_words(schema: &str) -> PyResult<Option<String>> {
    let rules = serde_json::from_str(schema).map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok(registry::range(&rules))
}
