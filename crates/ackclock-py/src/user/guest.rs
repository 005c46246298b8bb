//! Programs that are both ends of a flow. Python says which program to start, where and with what beside its
//! environment; the first failure ends the run with a sentence.

use ackclock_core::error::Problem;
use ackclock_core::packet::{Ends, EndsEnv, Place};
use ackclock_core::registry::Spec;
use pyo3::prelude::*;

use super::UserCode;

/// The two ends of a flow whose place in a scenario this is; no program is started before the run.
#[cfg(unix)]
pub(super) fn ends(
    user: &UserCode,
    make: &Py<PyAny>,
    spec: &Spec,
    env: &EndsEnv<'_>,
    location: Place<'_>,
) -> Result<Ends, Problem> {
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::time::Duration;

    use ackclock_core::scenario::Guest as Described;
    use ackclock_core::units::Span;
    use ackclock_guest::Guest;
    use ackclock_guest::end::{Starter, Surroundings, ends};
    use ackclock_guest::process::{Interrupted, Process, Program};
    use serde_json::Value;

    use super::Failure;
    use super::names::keep;

    const PATIENCE: Span = Span::from_millis(30_000);

    let wrong = |message: String| Problem::new(location.path, message);
    let params = Value::Object(spec.params());
    let described: Described =
        serde_json::from_value(params.clone()).map_err(|error| wrong(error.to_string()))?;
    let patience = described.patience.unwrap_or(PATIENCE).seconds();
    let (program, arguments) = Python::attach(|py| {
        let hired = make.bind(py).call1(("guest", params.to_string(), location.index))?;
        let program = Program {
            command: hired.getattr("command")?.extract()?,
            folder: hired.getattr("folder")?.extract::<PathBuf>()?,
            environment: hired.getattr("environment")?.extract()?,
            patience: Duration::from_secs_f64(patience),
            placement: user.placement.clone(),
        };
        Ok((program, hired.getattr("text")?.extract::<String>()?))
    })
    .map_err(|error: PyErr| {
        let problem = wrong(error.to_string());
        user.slot.keep(Failure::Raised(error));
        problem
    })?;
    let slot = Arc::clone(&user.slot);
    let interrupted: Interrupted = Arc::new(move || {
        // On the main thread this is where Ctrl-C becomes KeyboardInterrupt.
        let raised = Python::attach(|py| py.check_signals()).err();
        let is_over = raised.is_some();
        if let Some(error) = raised {
            slot.keep(Failure::Raised(error));
        }
        is_over
    });
    let starter = || -> Starter {
        let (program, interrupted) = (program.clone(), Arc::clone(&interrupted));
        Box::new(move || {
            let process = Process::start(&program, Arc::clone(&interrupted))?;
            Ok(Box::new(process) as Box<dyn Guest>)
        })
    };
    let surroundings = Surroundings {
        command: &arguments,
        flow: &location.name.to_string(),
        starters: [starter(), starter()],
        keep,
    };
    let flow = location.path.trim_end_matches(".guest");
    ends(env, surroundings).map_err(|(key, message)| Problem::new(format!("{flow}.{key}"), message))
}

/// No ends: guests need what only Unix has.
#[cfg(not(unix))]
pub(super) fn ends(
    _: &UserCode,
    _: &Py<PyAny>,
    _: &Spec,
    _: &EndsEnv<'_>,
    location: Place<'_>,
) -> Result<Ends, Problem> {
    Err(Problem::new(location.path, "is a program, and guests run on Linux and macOS alone"))
}
