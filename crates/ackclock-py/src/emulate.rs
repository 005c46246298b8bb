//! Emulations in real time: the thread that carries packets is the core's, everything around it is Python's.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ackclock_emulate::emulator::{Captured, Emulated, Emulator as Inner, Failure};
use numpy::IntoPyArray;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

pyo3::create_exception!(
    ackclock._core,
    MachineError,
    PyRuntimeError,
    "The machine does not do what an emulation needs; the argument says what."
);

fn to_error(failure: Failure) -> PyErr {
    match failure {
        Failure::Machine(why) => MachineError::new_err(why),
        Failure::Fault(broken) => super::engine_fault(&broken),
    }
}

/// An emulation of a scenario between two TUN devices.
#[pyclass(module = "ackclock._core")]
pub(super) struct Emulator(Mutex<Inner>);

impl Emulator {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Emulator {
    /// Prepares a scenario, given as JSON; what is wrong with it, or cannot be emulated, is an `InputError`.
    #[new]
    fn new(py: Python<'_>, json: &str) -> PyResult<Self> {
        let emulator = py.detach(|| Inner::new(json));
        emulator
            .map(|inner| Self(Mutex::new(inner)))
            .map_err(|problems| super::input_error(&problems))
    }

    /// What the scenario requires of the hosts, as JSON.
    fn describe(&self) -> String {
        self.inner().scope().describe().to_string()
    }

    /// Starts the thread between the devices of senders and receivers; returns its number in the kernel.
    ///
    /// `origin_ns` is when the emulation begins, of `time.monotonic_ns`.
    fn start(
        &self,
        py: Python<'_>,
        sender: i32,
        receiver: i32,
        origin_ns: u64,
        captures: bool,
    ) -> PyResult<i32> {
        py.detach(|| self.inner().start([sender, receiver], origin_ns, captures)).map_err(to_error)
    }

    /// Waits until the emulation has ended, at most so long [s]; says whether it has.
    fn wait(&self, py: Python<'_>, most_s: f64) -> bool {
        py.detach(|| self.inner().wait(Duration::from_secs_f64(most_s.clamp(0.0, 3600.0))))
    }

    /// Stops the emulation, without results.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.inner().stop());
    }

    /// The results: tables, what passed of each flow, lateness, captured packets.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let emulated = py.detach(|| self.inner().finish()).map_err(to_error)?;
        results(py, emulated)
    }
}

fn results(py: Python<'_>, emulated: Emulated) -> PyResult<Bound<'_, PyDict>> {
    let Emulated { tables, flows, packet_hops, events, carried } = emulated;
    let result = PyDict::new(py);
    result.set_item("tables", super::tables(py, tables)?)?;
    let column = |get: &dyn Fn(&ackclock_core::packet::LiveFlow) -> u64| {
        flows.iter().map(get).collect::<Vec<u64>>().into_pyarray(py)
    };
    let passed = PyDict::new(py);
    passed.set_item("data_entered", column(&|f| f.entered[0]))?;
    passed.set_item("acks_entered", column(&|f| f.entered[1]))?;
    passed.set_item("data_arrived", column(&|f| f.arrived[0]))?;
    passed.set_item("acks_arrived", column(&|f| f.arrived[1]))?;
    passed.set_item("data_lost", column(&|f| f.lost[0]))?;
    passed.set_item("acks_lost", column(&|f| f.lost[1]))?;
    passed.set_item("window_entered", column(&|f| f.window_entered))?;
    passed.set_item("window_lost", column(&|f| f.window_lost))?;
    result.set_item("flows", passed)?;
    result.set_item("packet_hops", packet_hops)?;
    result.set_item("events", events)?;
    let seconds = |share: f64| carried.lateness.quantile(share) as f64 / 1e9;
    let late = PyDict::new(py);
    late.set_item("packets", carried.lateness.total())?;
    late.set_item("p50_s", seconds(0.5))?;
    late.set_item("p99_s", seconds(0.99))?;
    late.set_item("max_s", carried.lateness.most() as f64 / 1e9)?;
    result.set_item("lateness", late)?;
    result.set_item("strangers", carried.strangers.to_vec())?;
    result.set_item("refused", carried.refused)?;
    let captured = carried.captured.iter().map(|Captured { at_ns, side, is_sent, size, bytes }| {
        (*at_ns, *side, *is_sent, *size, PyBytes::new(py, bytes))
    });
    result.set_item("captured", PyList::new(py, captured.collect::<Vec<_>>())?)?;
    Ok(result)
}
