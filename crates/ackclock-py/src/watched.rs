//! Work of the core that reports to Python how far it is.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

/// Calls `work` without the interpreter's lock. What it is given takes the lock, lets Ctrl-C through, calls
/// `progress`, and says whether to go on.
///
/// # Errors
/// What `progress` or Ctrl-C raised.
pub(super) fn watched<A, T>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut dyn FnMut(A, A) -> bool) -> T + Send,
) -> PyResult<T>
where
    A: for<'py> IntoPyObject<'py>,
    T: Send,
{
    let mut raised: Option<PyErr> = None;
    let result = py.detach(|| {
        work(&mut |amount, all| {
            let went = Python::attach(|py| {
                py.check_signals()?;
                let Some(call) = progress else { return Ok(()) };
                call.call1(py, (amount.into_py_any(py)?, all.into_py_any(py)?)).map(|_| ())
            });
            raised = went.err();
            raised.is_none()
        })
    });
    raised.map_or(Ok(result), Err)
}
