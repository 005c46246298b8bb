//! Python binding of `ackclock-core`: JSON text in, JSON text, memory views of a run's columns and NumPy arrays out.
//!
//! No logic lives here but the calls into controls and AQMs written in Python ([`user`]). The scenario crosses the border as JSON, so that the serde types of the
//! core stay the only definition of the file format.

#[cfg(target_os = "linux")]
mod emulate;
mod fluid;
mod form;
mod igp;
mod pattern;
mod pcapng;
mod shipped;
mod sync;
mod units;
mod user;
mod watched;

use std::sync::Mutex;

use ackclock_core::api::{self, Column, Columns, Effort, Output, Part, Parts, RunError, Threads};
use ackclock_core::error::Problem;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyList, PyMemoryView, PyString};

use user::{Failure, UserCode};

pyo3::create_exception!(
    ackclock._core,
    InputError,
    PyValueError,
    "The scenario is wrong; the argument is a JSON list of {path, message}."
);
pyo3::create_exception!(
    ackclock._core,
    AlgorithmFailure,
    PyRuntimeError,
    "An algorithm broke its contract during the run; the argument says which and how."
);

pyo3::create_exception!(
    ackclock._core,
    EngineFault,
    PyRuntimeError,
    "A run gave an impossible result, a fault of the engine; the argument says which, and requests a report."
);

fn engine_fault(broken: &str) -> PyErr {
    EngineFault::new_err(format!(
        "impossible result: {broken}; this is a fault of ackclock: please report it to the project with \
         this scenario and the output of \"ackclock version\""
    ))
}

fn problems_json(problems: &[Problem]) -> String {
    serde_json::json!(problems).to_string()
}

/// Calls the core, which may call user-defined algorithms; what they raise is passed on.
fn with_user_code<T: Send>(
    py: Python<'_>,
    make: Option<Py<PyAny>>,
    call: impl FnOnce(&UserCode) -> T + Send,
) -> PyResult<T> {
    let user = UserCode::new(make);
    let result = py.detach(|| call(&user));
    match user.slot.take() {
        Some(Failure::Raised(error)) => Err(error),
        _ => Ok(result),
    }
}

fn input_error(problems: &[Problem]) -> PyErr {
    InputError::new_err(problems_json(problems))
}

fn run_error(error: RunError) -> PyErr {
    match error {
        RunError::Interrupted => PyKeyboardInterrupt::new_err(()),
        RunError::Input(problems) => input_error(&problems),
        RunError::Algorithm(message) => AlgorithmFailure::new_err(message),
        RunError::Fault(broken) => engine_fault(&broken),
    }
}

/// Numbers as a memory view: Python reads it without NumPy, whose import takes longer than a small run, and NumPy
/// takes it over without a copy.
fn memory_view<'py, T: Copy, const SIZE: usize>(
    py: Python<'py>,
    values: &[T],
    format: &str,
    bytes_of: impl Fn(T) -> [u8; SIZE],
) -> PyResult<Bound<'py, PyAny>> {
    let bytes = PyByteArray::new_with(py, values.len() * SIZE, |bytes| {
        for (place, value) in bytes.as_chunks_mut().0.iter_mut().zip(values) {
            *place = bytes_of(*value);
        }
        Ok(())
    })?;
    PyMemoryView::from(&bytes)?.call_method1("cast", (format,))
}

/// Few distinct words over many rows: each row is one pointer.
fn word_list<'py>(py: Python<'py>, values: &[&'static str]) -> PyResult<Bound<'py, PyList>> {
    let mut interned: Vec<(&'static str, Bound<'py, PyString>)> = Vec::new();
    let words = values.iter().map(|&word| {
        // The same place in memory is the same word, which takes a tenth of comparing it.
        let place = interned.iter().position(|(known, _)| std::ptr::eq(*known, word));
        let place = place.unwrap_or_else(|| {
            interned.push((word, PyString::intern(py, word)));
            interned.len() - 1
        });
        interned[place].1.clone()
    });
    PyList::new(py, words)
}

fn column<'py>(py: Python<'py>, column: Column) -> PyResult<Bound<'py, PyAny>> {
    Ok(match column {
        Column::F64(values) => memory_view(py, &values, "d", f64::to_ne_bytes)?,
        Column::U64(values) => memory_view(py, &values, "Q", u64::to_ne_bytes)?,
        Column::U32(values) => memory_view(py, &values, "I", u32::to_ne_bytes)?,
        Column::Bool(values) => memory_view(py, &values, "?", |value| [u8::from(value)])?,
        Column::Text(values) => word_list(py, &values)?.into_any(),
        Column::Names(values) => PyList::new(py, values)?.into_any(),
    })
}

fn tables<'py>(
    py: Python<'py>,
    tables: Vec<(&'static str, Columns)>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, columns) in tables {
        let table = PyDict::new(py);
        for (title, values) in columns {
            table.set_item(title, column(py, values)?)?;
        }
        dict.set_item(name, table)?;
    }
    Ok(dict)
}

fn output(py: Python<'_>, output: Output) -> PyResult<Bound<'_, PyDict>> {
    let tables = tables(py, output.tables)?;
    let result = PyDict::new(py);
    result.set_item("summary", output.summary)?;
    result.set_item("tables", tables)?;
    result.set_item("threads", output.used.threads)?;
    result.set_item("reason", output.used.reason)?;
    Ok(result)
}

/// The simulation core. Use the `ackclock` package; this module is its inside.
#[pymodule]
mod _core {
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::emulate::Emulator;
    #[pymodule_export]
    use super::fluid::{FluidCore, Rates, draw_transfers, layout, mean_size, shortest_paths};
    #[pymodule_export]
    use super::form::{Form, Rooms, nearest, suggestion};
    #[pymodule_export]
    use super::igp::IgpCore;
    #[pymodule_export]
    use super::pattern::pattern;
    #[pymodule_export]
    use super::pcapng::PacketRows;
    #[pymodule_export]
    use super::units::{buffer_size, find_warm_up, quantity, range_words, units_of};
    #[pymodule_export]
    use super::user::views::{Ack, Congestion, Lost, Packet, Queue, Verdict, Window};
    use super::{
        AlgorithmFailure as AlgorithmFailureType, Bound, Effort, EngineFault as EngineFaultType,
        Failure, InputError as InputErrorType, Mutex, Part, Parts, Py, PyAny, PyDict, PyErr,
        PyModule, PyModuleMethods, PyResult, Python, Threads, UserCode, api, input_error, output,
        problems_json, pyfunction, run_error, tables, with_user_code,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("InputError", module.py().get_type::<InputErrorType>())?;
        module.add("NotConverged", module.py().get_type::<super::fluid::NotConverged>())?;
        #[cfg(target_os = "linux")]
        module.add("MachineError", module.py().get_type::<super::emulate::MachineError>())?;
        module.add("EngineFault", module.py().get_type::<EngineFaultType>())?;
        module.add("AlgorithmFailure", module.py().get_type::<AlgorithmFailureType>())
    }

    /// Version of the core.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// JSON Schema of a scenario.
    #[pyfunction]
    fn schema() -> String {
        api::schema()
    }

    /// Every algorithm of every room with its source and the JSON Schema of its parameters.
    #[pyfunction]
    fn catalogue() -> String {
        super::form::list_algorithms().to_string()
    }

    /// Every table that can be recorded, with its columns; JSON.
    #[pyfunction]
    fn recorded_tables() -> String {
        api::recorded_tables()
    }

    /// Congestion controls of released libraries in this build, as entries of the catalogue with their crate; JSON.
    #[pyfunction]
    fn shipped() -> String {
        super::shipped::catalogue()
    }

    /// Everything wrong with a scenario, as a JSON list of {path, message}.
    ///
    /// `make(room, parameters, index)` makes user-defined algorithms; its exceptions are passed on.
    #[pyfunction]
    #[pyo3(signature = (json, make=None))]
    fn check(py: Python<'_>, json: &str, make: Option<Py<PyAny>>) -> PyResult<String> {
        let problems = with_user_code(py, make, |user| api::check_with(json, user))?;
        Ok(problems_json(&problems))
    }

    /// As `check`, of a scenario that a person typed, as in the lab: quantities need their units.
    #[pyfunction]
    fn check_typed(py: Python<'_>, json: &str) -> String {
        problems_json(&py.detach(|| api::check_typed(json)))
    }

    /// As `check`, without what is hidden by other problems.
    #[pyfunction]
    #[pyo3(signature = (json, make=None))]
    fn first_problems(py: Python<'_>, json: &str, make: Option<Py<PyAny>>) -> PyResult<String> {
        let problems = with_user_code(py, make, |user| api::first_problems(json, user))?;
        Ok(problems_json(&problems))
    }

    /// The work that a scenario is predicted to be; JSON of packet_hops, events, cpu_s.
    ///
    /// As good as a check: what is wrong is raised. `make` is as that of `check`.
    /// More than `most_cpu_s` seconds of one core are refused, if given.
    #[pyfunction]
    #[pyo3(signature = (json, make=None, most_cpu_s=None))]
    fn predict(
        py: Python<'_>,
        json: &str,
        make: Option<Py<PyAny>>,
        most_cpu_s: Option<f64>,
    ) -> PyResult<String> {
        let most_cpu_s = most_cpu_s.unwrap_or(f64::INFINITY);
        with_user_code(py, make, |user| api::predict_with(json, user, most_cpu_s))?
            .map_err(|problems| input_error(&problems))
    }

    /// As `predict`, about ten times as fast and less exact: for sums over many runs.
    #[pyfunction]
    #[pyo3(signature = (json, make=None, most_cpu_s=None))]
    fn estimate(
        py: Python<'_>,
        json: &str,
        make: Option<Py<PyAny>>,
        most_cpu_s: Option<f64>,
    ) -> PyResult<String> {
        let most_cpu_s = most_cpu_s.unwrap_or(f64::INFINITY);
        with_user_code(py, make, |user| api::estimate_with(json, user, most_cpu_s))?
            .map_err(|problems| input_error(&problems))
    }

    /// As `predict`, with the warnings: JSON of both in a list.
    #[pyfunction]
    #[pyo3(signature = (json, make=None, most_cpu_s=None))]
    fn review(
        py: Python<'_>,
        json: &str,
        make: Option<Py<PyAny>>,
        most_cpu_s: Option<f64>,
    ) -> PyResult<String> {
        let most_cpu_s = most_cpu_s.unwrap_or(f64::INFINITY);
        with_user_code(py, make, |user| api::review_with(json, user, most_cpu_s))?
            .map_err(|problems| input_error(&problems))
    }

    /// What would run: routes, bandwidth-delay products, defaults used, predicted cost; JSON.
    #[pyfunction]
    fn explain(py: Python<'_>, json: &str) -> PyResult<String> {
        py.detach(|| api::explain_with(json, &UserCode::new(None)))
            .map_err(|problems| input_error(&problems))
    }

    /// The compiled scenario: nodes, links, flows with all settings; JSON.
    #[pyfunction]
    fn plan(py: Python<'_>, json: &str) -> PyResult<String> {
        py.detach(|| api::plan_with(json, &UserCode::new(None)))
            .map_err(|problems| input_error(&problems))
    }

    /// How much of a run could happen at once, from a short stretch and measured costs; JSON.
    #[pyfunction]
    fn parallelism(py: Python<'_>, json: &str) -> PyResult<String> {
        py.detach(|| {
            #[expect(clippy::disallowed_methods, reason = "it measures what a step costs")]
            let begin = std::time::Instant::now();
            let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
            let clock = || begin.elapsed().as_secs_f64();
            api::parallelism(json, super::sync::measure(), cores, &clock)
        })
        .map_err(run_error)
    }

    /// The scenario after a round trip through the core's types; JSON.
    #[pyfunction]
    fn normalise(py: Python<'_>, json: &str) -> PyResult<String> {
        py.detach(|| api::normalise(json)).map_err(|problems| input_error(&problems))
    }

    /// As `normalise`, each algorithm in the one form that all spellings of it share; JSON.
    #[pyfunction]
    fn canonical(py: Python<'_>, json: &str) -> PyResult<String> {
        py.detach(|| api::canonical(json)).map_err(|problems| input_error(&problems))
    }

    /// Runs a scenario with the interpreter lock released.
    ///
    /// `progress(fraction, sim_time_s)` is called every `interval_s` seconds of the wall clock, as
    /// far as the run looks that often; what it raises stops the run and is raised here.
    /// `make(room, parameters, index)` makes user-defined algorithms.
    /// `take(tables, names)` gets the recorded tables in parts as soon as `rows` of their rows are in memory, and
    /// once at the end; `names` are those of flows and links, and none after the first part. What it raises stops
    /// the run. The result then has the other tables only.
    /// A run that is predicted to take more than `most_cpu_s` seconds of one core is refused, if that is given.
    /// `threads` are those that the run uses, 0 as many as are predicted to be fastest, `most` at most. One is used where
    /// several might take more than twice as long, unless `always` is true: that is for comparing results. The result has
    /// the number used, and why they are fewer, if they are.
    #[pyfunction]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    #[pyo3(signature = (json, progress=None, make=None, *, interval_s=0.2, take=None, rows=262_144, threads=1, most=1, most_cpu_s=None, always=false))]
    fn run<'py>(
        py: Python<'py>,
        json: &str,
        progress: Option<Py<PyAny>>,
        make: Option<Py<PyAny>>,
        interval_s: f64,
        take: Option<Py<PyAny>>,
        rows: usize,
        threads: usize,
        most: usize,
        most_cpu_s: Option<f64>,
        always: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let threads = match threads {
            0 => Threads::Auto(most),
            1 => Threads::One,
            threads if always => Threads::Always(threads),
            threads => Threads::Exactly(threads),
        };
        let user = UserCode::new(make);
        let raised: Mutex<Option<PyErr>> = Mutex::new(None);
        let note = |error: PyErr| {
            if let Ok(mut raised) = raised.lock() {
                raised.get_or_insert(error);
            }
        };
        #[expect(clippy::disallowed_methods, reason = "progress is reported by wall-clock time")]
        let mut reported_at = std::time::Instant::now();
        let most_cpu_s = most_cpu_s.unwrap_or(f64::INFINITY);
        let effort = Effort { threads, most_cpu_s };
        let result = py.detach(|| {
            let mut progress = |fraction: f64, seconds: f64| {
                // The core calls this every few milliseconds; the interpreter runs at the interval only.
                if reported_at.elapsed().as_secs_f64() < interval_s {
                    return true;
                }
                #[expect(clippy::disallowed_methods, reason = "as above")]
                {
                    reported_at = std::time::Instant::now();
                }
                let reported = Python::attach(|py| {
                    // On the main thread this is where Ctrl-C becomes KeyboardInterrupt.
                    py.check_signals()?;
                    match &progress {
                        Some(callable) => callable.call1(py, (fraction, seconds)).map(|_| ()),
                        None => Ok(()),
                    }
                });
                reported.map_err(note).is_ok()
            };
            let Some(take) = &take else {
                return api::run_with(json, &user, effort, &mut progress);
            };
            let mut hand_over = |chunk: Part| {
                let accepted = Python::attach(|py| {
                    take.call1(py, (tables(py, chunk.tables)?, chunk.names.map(Vec::from)))
                });
                accepted.map_err(note).is_ok()
            };
            let chunks = Parts { rows, take: &mut hand_over };
            api::run_in_parts(json, &user, effort, &mut progress, chunks)
        });
        if let Some(error) = raised.into_inner().ok().flatten() {
            return Err(error);
        }
        match user.slot.take() {
            Some(Failure::Raised(error)) => return Err(error),
            Some(Failure::Broke(sentence)) => return Err(AlgorithmFailureType::new_err(sentence)),
            None => {}
        }
        match result {
            Ok(report) => output(py, report),
            Err(error) => Err(run_error(error)),
        }
    }
}
