//! Controls and AQMs that a user wrote in Python.
//!
//! The front makes one instance for every flow or link of every run and hands it over with its
//! methods looked up; here they are called, and what they set or return is checked. The first
//! failure is kept and stops the run: an exception to be raised as it is, a broken rule as a
//! sentence that names class, file and line.

mod aqm;
mod control;
mod guest;
mod names;
pub(crate) mod views;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ackclock_core::cc::{CcEnv, CongestionControl};
use ackclock_core::compile::{GUEST, PYTHON};
use ackclock_core::error::Problem;
use ackclock_core::packet::{Custom, Ends, EndsEnv, Made, Place};
use ackclock_core::qdisc::managed::Managed;
use ackclock_core::qdisc::{QdiscEnv, QueueDisc};
use ackclock_core::registry::Spec;
use ackclock_core::units::{Span, Time};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use serde_json::Value;

use crate::shipped::LIBRARIES;

/// How a user's code failed.
pub(crate) enum Failure {
    /// It raised this.
    Raised(PyErr),
    /// It broke its contract.
    Broke(String),
}

/// The first failure of a run.
#[derive(Default)]
pub(crate) struct Slot {
    failed: AtomicBool,
    first: Mutex<Option<Failure>>,
}

impl Slot {
    fn keep(&self, failure: Failure) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(failure);
        self.failed.store(true, Ordering::Release);
    }

    fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    pub(crate) fn take(&self) -> Option<Failure> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Says in an exception where it was raised; an interrupt stays as it is.
fn annotate(py: Python<'_>, error: &PyErr, note: &str) {
    if error.is_instance_of::<PyException>(py) {
        let value = error.value(py);
        // An exception that takes neither is raised as it is.
        let _ = value.call_method1("add_note", (note,));
        let _ = value.setattr("__ackclock_where__", note);
    }
}

/// Who a piece of user code works for, and where its failures go.
#[derive(Clone)]
struct Owner {
    /// The class.
    class: String,
    /// Its file.
    file: String,
    /// As in "flow f3".
    place: String,
    slot: Arc<Slot>,
}

impl Owner {
    /// Keeps an exception, with flow or link and time added as a note.
    fn note_exception(&self, py: Python<'_>, error: PyErr, now: Time) {
        annotate(
            py,
            &error,
            &format!("in {} at {} s of simulated time", self.place, now.seconds()),
        );
        self.slot.keep(Failure::Raised(error));
    }

    /// Keeps a broken rule: what `method` did, and what was expected.
    fn broke(&self, method: &str, did: &str, line: u32, now: Time, expected: &str) {
        let Self { class, file, place: location, slot } = self;
        let line_suffix = if line > 0 { format!(", line {line}") } else { String::new() };
        slot.keep(Failure::Broke(format!(
            "{class}.{method} ({file}{line_suffix}) {did} in {location} at {} s of simulated time; {expected}",
            now.seconds()
        )));
    }
}

/// A method with its name and the line where it is defined.
struct Method {
    name: &'static str,
    line: u32,
    call: Py<PyAny>,
}

impl Method {
    fn of(instance: &Bound<'_, PyAny>, name: &'static str) -> PyResult<Option<Self>> {
        let Some(call) = instance.getattr_opt(name)? else { return Ok(None) };
        let code = call.getattr_opt("__code__")?;
        let line = match code {
            Some(code) => code.getattr("co_firstlineno")?.extract().unwrap_or(0),
            None => 0,
        };
        Ok(Some(Self { name, line, call: call.unbind() }))
    }

    fn require(instance: &Bound<'_, PyAny>, name: &'static str) -> PyResult<Self> {
        match Self::of(instance, name)? {
            Some(method) => Ok(method),
            None => instance.getattr(name).map(|_| unreachable!("it was just found missing")),
        }
    }
}

/// When a user's method is called.
#[derive(Clone, Copy)]
enum Cadence {
    /// For every acknowledgement or packet.
    Each,
    /// Once per round trip.
    Round,
    /// At this interval.
    Every(Span),
}

impl Cadence {
    fn of(cadence: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(seconds) = cadence.extract::<f64>() {
            return Ok(Self::Every(Span(Span::from_seconds(seconds).0.max(1))));
        }
        Ok(if cadence.extract::<String>()? == "round" { Self::Round } else { Self::Each })
    }
}

/// The algorithms that a front can make, for one run.
pub(crate) struct UserCode {
    make: Option<Py<PyAny>>,
    pub(crate) slot: Arc<Slot>,
    /// Where its guests run.
    #[cfg(unix)]
    placement: ackclock_guest::placement::Placement,
}

impl UserCode {
    /// `make(room, spec, index)` returns an instance with `cadence`, `class`, `file` and, for
    /// controls, `slow_start`, as attributes of what it returns.
    pub(crate) fn new(make: Option<Py<PyAny>>) -> Self {
        Self {
            make,
            slot: Arc::default(),
            #[cfg(unix)]
            placement: ackclock_guest::placement::Placement::default(),
        }
    }

    /// Makes an instance; what is raised on the way is kept.
    fn make_instance<T>(
        &self,
        room: &str,
        spec: &Spec,
        location: Place<'_>,
        build: impl FnOnce(&Bound<'_, PyAny>, Owner) -> PyResult<T>,
    ) -> Option<Result<T, Problem>> {
        let make = self.make.as_ref().filter(|_| spec.kind().starts_with(PYTHON))?;
        let word = if room == "cc" { "flow" } else { "link" };
        Some(Python::attach(|py| {
            let built = (|| {
                let instance = make.bind(py).call1((
                    room,
                    Value::Object(spec.params()).to_string(),
                    location.index,
                ))?;
                let owner = Owner {
                    class: instance.getattr("class_name")?.extract()?,
                    file: instance.getattr("file")?.extract()?,
                    place: format!("{word} {}", location.name),
                    slot: Arc::clone(&self.slot),
                };
                build(&instance, owner)
            })();
            built.map_err(|error| {
                let problem = Problem::new(location.path, error.to_string());
                annotate(py, &error, &format!("while it was made for {word} {}", location.name));
                self.slot.keep(Failure::Raised(error));
                problem
            })
        }))
    }
}

impl Custom for UserCode {
    fn cc(&self, spec: &Spec, env: &CcEnv, location: Place<'_>) -> Made<dyn CongestionControl> {
        if let Some(control) = LIBRARIES.cc(spec, env, location) {
            return Some(control);
        }
        let control = self.make_instance("cc", spec, location, |control, owner| {
            control::build(control, *env, owner)
        })?;
        Some(control.map(|c| Box::new(c) as Box<dyn CongestionControl>))
    }

    fn qdisc(&self, spec: &Spec, env: &QdiscEnv, location: Place<'_>) -> Made<dyn QueueDisc> {
        let aqm =
            self.make_instance("qdisc", spec, location, |aqm, owner| aqm::build(aqm, env, owner))?;
        Some(aqm.map(|a| Box::new(Managed::over(a, env.limit)) as Box<dyn QueueDisc>))
    }

    fn quic_ends(
        &self,
        cc: &Spec,
        env: &EndsEnv<'_>,
        location: Place<'_>,
    ) -> Option<Result<Ends, Problem>> {
        if cc.kind() != GUEST {
            return LIBRARIES.quic_ends(cc, env, location);
        }
        let make = self.make.as_ref()?;
        Some(guest::ends(self, make, cc, env, location))
    }

    fn is_used(&self) -> bool {
        self.make.is_some() || LIBRARIES.is_used()
    }

    fn failure(&self) -> Option<String> {
        self.slot.has_failed().then(|| "user code failed".to_owned())
    }
}
