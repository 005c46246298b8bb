//! Link-state routing for Python: arrays in, arrays out, without the interpreter's lock.

use ackclock_core::error::Problem;
use ackclock_core::fluid::igp::{
    Failure, Given, Hashed, Igp, Impact, Matrix, Search, Stopped, Watch, failures, hashed_paths,
    kept, loads, search_weights,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::input_error;
use super::watched::watched;

type Floats<'py> = PyReadonlyArray1<'py, f64>;
type Ids<'py> = PyReadonlyArray1<'py, u32>;
/// Sets of weights tried when the best was beaten, with the utilisation reached.
type Course = Vec<(usize, f64)>;
type Array<'py> = Bound<'py, PyArray1<f64>>;
type Numbers<'py> = Bound<'py, PyArray1<u32>>;
type Paths<'py> = (Numbers<'py>, Numbers<'py>, Numbers<'py>, Numbers<'py>, Numbers<'py>);

fn floats(values: &Floats<'_>) -> Vec<f64> {
    values.as_array().to_vec()
}

fn ids(values: &Ids<'_>) -> Vec<u32> {
    values.as_array().to_vec()
}

/// Lists of links as offsets and values.
fn lists(offsets: &[u32], values: &[u32], links: usize) -> PyResult<Vec<Vec<u32>>> {
    let right = offsets.first() == Some(&0)
        && offsets.is_sorted()
        && offsets.last().is_some_and(|&end| end as usize == values.len())
        && values.iter().all(|&v| (v as usize) < links);
    if !right {
        return Err(wrong("groups", &format!("must be offsets and numbers below {links}")));
    }
    Ok(offsets.windows(2).map(|pair| values[pair[0] as usize..pair[1] as usize].to_vec()).collect())
}

fn wrong(path: &str, message: &str) -> PyErr {
    input_error(&[Problem::new(path, message)])
}

/// As [`watched`], of an analysis that ends early only when its progress function does.
fn analyse<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut dyn FnMut(usize, usize) -> bool) -> Result<T, Stopped> + Send,
) -> PyResult<T> {
    watched(py, progress, work)?
        .map_err(|Stopped| PyRuntimeError::new_err("the analysis was stopped"))
}

/// A network with link-state routes and a traffic matrix. Use `ackclock.studies.planner`.
#[pyclass(frozen, module = "ackclock._core")]
pub(super) struct IgpCore {
    igp: Igp,
    matrix: Matrix,
    capacity: Vec<f64>,
    /// Flows of demands, where routers hash them.
    hashed: Option<Hashed>,
}

impl IgpCore {
    /// Which links are up; an empty list: all.
    fn up(&self, up: &PyReadonlyArray1<'_, bool>) -> PyResult<Vec<bool>> {
        let up = up.as_array().to_vec();
        if up.is_empty() || up.len() == self.igp.links() {
            return Ok(up);
        }
        Err(wrong("up", &format!("has {} entries, expected {}", up.len(), self.igp.links())))
    }
}

#[pymethods]
impl IgpCore {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "called by one Python class, by name")]
    #[pyo3(signature = (*, nodes, src, dst, cost, capacity, source, target, volume, flows=None, first=None, seed=1, same=false, given=None))]
    fn new(
        nodes: usize,
        src: Ids<'_>,
        dst: Ids<'_>,
        cost: Floats<'_>,
        capacity: Floats<'_>,
        source: Ids<'_>,
        target: Ids<'_>,
        volume: Floats<'_>,
        flows: Option<Ids<'_>>,
        first: Option<Ids<'_>>,
        seed: u64,
        same: bool,
        given: Option<(Ids<'_>, Ids<'_>, Ids<'_>)>,
    ) -> PyResult<Self> {
        let (src, dst, cost, capacity) = (ids(&src), ids(&dst), floats(&cost), floats(&capacity));
        let (source, target, volume) = (ids(&source), ids(&target), floats(&volume));
        let mut problems = Vec::new();
        let m = src.len();
        if dst.len() != m || cost.len() != m || capacity.len() != m {
            problems.push(Problem::new("links", "ends, costs and capacities differ in number"));
        }
        if source.len() != volume.len() || target.len() != volume.len() {
            problems.push(Problem::new("demands", "ends and volumes differ in number"));
        }
        let flows = flows.map(|flows| ids(&flows));
        if flows.as_ref().is_some_and(|f| f.len() != volume.len() || f.contains(&0)) {
            problems.push(Problem::new("flows", "expected 1 or more for each demand"));
        }
        if [&src, &dst, &source, &target].iter().any(|l| l.iter().any(|&n| n as usize >= nodes)) {
            problems.push(Problem::new("ends", format!("expected node numbers below {nodes}")));
        }
        let bad = |list: &[f64]| list.iter().position(|v| v.is_nan() || *v <= 0.0);
        if let Some(i) = bad(&cost) {
            problems.push(Problem::new(format!("cost[{i}]"), "expected a number above 0"));
        }
        if let Some(i) = bad(&capacity) {
            problems.push(Problem::new(format!("capacity[{i}]"), "expected a number above 0"));
        }
        if let Some(i) = volume.iter().position(|v| !(v.is_finite() && *v >= 0.0)) {
            problems
                .push(Problem::new(format!("volume[{i}]"), "expected a finite number, 0 or more"));
        }
        if !problems.is_empty() {
            return Err(input_error(&problems));
        }
        let igp = Igp::new(nodes, src, dst, cost);
        let mut matrix = Matrix::new(nodes, source, target, volume);
        if let Some((pair, offsets, links)) = given {
            let (pair, paths) = (ids(&pair), lists(&ids(&offsets), &ids(&links), m)?);
            let right =
                pair.len() == paths.len() && pair.iter().all(|&p| (p as usize) < matrix.pairs());
            let given = Given::new(pair.iter().copied().zip(paths.iter().map(|path| &path[..])));
            matrix = Some(matrix)
                .filter(|_| right)
                .and_then(|matrix| matrix.with_given(&igp, given))
                .ok_or_else(|| wrong("given", "expected one path for a demand, from end to end"))?;
        }
        let first = first.map_or_else(Vec::new, |first| ids(&first));
        let hashed = flows.map(|flows| Hashed { flows, first, seed, same });
        Ok(Self { igp, matrix, capacity, hashed })
    }

    /// Load of each link, and the volume without a path.
    #[pyo3(signature = (*, up, progress=None))]
    fn loads<'py>(
        &self,
        py: Python<'py>,
        up: PyReadonlyArray1<'_, bool>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Array<'py>, f64)> {
        let up = self.up(&up)?;
        let hashed = self.hashed.as_ref();
        let loads =
            analyse(py, progress.as_ref(), |go| loads(&self.igp, &self.matrix, hashed, &up, go))?;
        Ok((loads.link.into_pyarray(py), loads.unreachable))
    }

    /// Part of each demand that arrives, what each link is offered, and whether it came to rest.
    #[pyo3(signature = (*, up, rounds, progress=None))]
    fn kept<'py>(
        &self,
        py: Python<'py>,
        up: PyReadonlyArray1<'_, bool>,
        rounds: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Array<'py>, Array<'py>, bool)> {
        let up = self.up(&up)?;
        let throughput = analyse(py, progress.as_ref(), |go| {
            kept(&self.igp, &self.matrix, self.hashed.as_ref(), &self.capacity, &up, rounds, go)
        })?;
        Ok((
            throughput.fraction.into_pyarray(py),
            throughput.offered.into_pyarray(py),
            throughput.settled,
        ))
    }

    /// What each failure does: arrays by name.
    #[expect(clippy::too_many_arguments, reason = "called by one Python function, by name")]
    #[pyo3(signature = (*, link_offsets, links, node_offsets, nodes, across, memory, progress=None))]
    fn failures<'py>(
        &self,
        py: Python<'py>,
        link_offsets: Ids<'_>,
        links: Ids<'_>,
        node_offsets: Ids<'_>,
        nodes: Ids<'_>,
        across: bool,
        memory: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let links = lists(&ids(&link_offsets), &ids(&links), self.igp.links())?;
        let nodes = lists(&ids(&node_offsets), &ids(&nodes), self.igp.nodes())?;
        if links.len() != nodes.len() {
            return Err(wrong("failures", "links and nodes differ in number"));
        }
        let failed: Vec<Failure> =
            links.into_iter().zip(nodes).map(|(links, nodes)| Failure { links, nodes }).collect();
        let watch = Watch { across, memory };
        let report = analyse(py, progress.as_ref(), |go| {
            let hashed = self.hashed.as_ref();
            failures(&self.igp, &self.matrix, hashed, &self.capacity, &failed, watch, go)
        })?;
        let out = PyDict::new(py);
        let column = |get: fn(&Impact) -> f64| {
            report.impact.iter().map(get).collect::<Vec<f64>>().into_pyarray(py)
        };
        out.set_item("utilisation", column(|i| i.utilisation))?;
        out.set_item("excess", column(|i| i.excess))?;
        out.set_item("disconnected", column(|i| i.disconnected))?;
        out.set_item("own", column(|i| i.own_volume))?;
        for (name, get) in
            [("busiest", (|i| i.busiest) as fn(&Impact) -> u32), ("overloaded", |i| i.overloaded)]
        {
            let values: Vec<u32> = report.impact.iter().map(get).collect();
            out.set_item(name, values.into_pyarray(py))?;
        }
        out.set_item("base", report.base.into_pyarray(py))?;
        out.set_item("unreachable", report.unreachable)?;
        out.set_item("worst", report.worst.into_pyarray(py))?;
        out.set_item("worst_failure", report.worst_failure.into_pyarray(py))?;
        out.set_item("across", report.across.into_pyarray(py))?;
        Ok(out)
    }

    /// The paths that flows are hashed to, of `each` or those that are the same as one: the demand of each and how
    /// many of its flows, where each begins in the list of links, that list, and demands without a path.
    #[pyo3(signature = (*, each))]
    fn paths<'py>(&self, py: Python<'py>, each: bool) -> PyResult<Paths<'py>> {
        let Some(hashed) = &self.hashed else {
            return Err(wrong("flows", "are needed: only flows have paths"));
        };
        let paths = py.detach(|| hashed_paths(&self.igp, &self.matrix, hashed, each));
        let out = |list: Vec<u32>| list.into_pyarray(py);
        Ok((
            out(paths.pair),
            out(paths.flows),
            out(paths.offsets),
            out(paths.hops),
            out(paths.unreachable),
        ))
    }

    /// The best weights found, the utilisation that they give, and how the search went.
    #[expect(clippy::too_many_arguments, reason = "called by one Python function, by name")]
    #[pyo3(signature = (*, offsets, links, tries, most, seed, progress=None))]
    fn search_weights<'py>(
        &self,
        py: Python<'py>,
        offsets: Ids<'_>,
        links: Ids<'_>,
        tries: usize,
        most: u32,
        seed: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Array<'py>, f64, Course)> {
        let groups = lists(&ids(&offsets), &ids(&links), self.igp.links())?;
        if most == 0 || groups.is_empty() || groups.iter().any(Vec::is_empty) {
            return Err(wrong("groups", "expected links, and a largest weight of 1 or more"));
        }
        let search = Search { tries, most, seed };
        let result = analyse(py, progress.as_ref(), |go| {
            search_weights(&self.igp, &self.matrix, &self.capacity, &groups, &search, go)
        })?;
        Ok((result.cost.into_pyarray(py), result.utilisation, result.course))
    }
}
