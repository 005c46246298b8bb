//! The fluid engine for Python: arrays in, arrays out.
//!
//! A network is copied in once, when it is made; results are handed over without a copy. The
//! interpreter's lock is released while the engine works.

use ackclock_core::api::{sender_policy, sharing_rule};
use ackclock_core::error::Problem;
use ackclock_core::fluid::{self, FluidError, FluidNet, Options, Outcome, Routers, SweepOptions};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::input_error;

pyo3::create_exception!(
    ackclock._core,
    NotConverged,
    PyRuntimeError,
    "Links did not settle; the arguments are the links, the last change and the sweeps done."
);

fn error(error: FluidError) -> PyErr {
    match error {
        FluidError::Input(problems) => input_error(&problems),
        FluidError::NotConverged { links, change, sweeps } => {
            NotConverged::new_err((links, change, sweeps))
        }
    }
}

type Floats<'py> = PyReadonlyArray1<'py, f64>;
type Ids<'py> = PyReadonlyArray1<'py, u32>;

fn floats(values: &Floats<'_>) -> Vec<f64> {
    values.as_array().to_vec()
}

fn checked(name: &str, values: &[f64], flows: usize, finite: bool) -> PyResult<()> {
    let mut problems = Vec::new();
    let may_be_empty = !finite;
    if values.len() != flows && !(may_be_empty && values.is_empty()) {
        problems
            .push(Problem::new(name, format!("has {} entries, expected {flows}", values.len())));
    }
    for (i, value) in values.iter().enumerate() {
        if value.is_nan() || *value < 0.0 || (finite && value.is_infinite()) {
            let expected = if finite { "a finite number, 0 or more" } else { "0 or more" };
            problems.push(Problem::new(
                format!("{name}[{i}]"),
                format!("is {value}, expected {expected}"),
            ));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(input_error(&problems)) }
}

/// Sharing rules by name, and which link has which.
fn routers(rules: &str, of_link: &[u8], links: usize) -> PyResult<Routers> {
    let specs: Vec<serde_json::Value> = serde_json::from_str(rules)
        .map_err(|e| input_error(&[Problem::new("routers", e.to_string())]))?;
    let mut built = Vec::new();
    for spec in specs {
        built.push(sharing_rule(&spec, "routers").map_err(|problem| input_error(&[problem]))?);
    }
    let right = of_link.is_empty() || of_link.len() == links;
    if !right || built.is_empty() || of_link.iter().any(|&r| usize::from(r) >= built.len()) {
        let message = format!("must name one of {} rules for each of {links} links", built.len());
        return Err(input_error(&[Problem::new("routers", message)]));
    }
    Ok(Routers { rules: built, of_link: of_link.to_vec() })
}

/// Rates of all flows on all hops.
#[pyclass(frozen, module = "ackclock._core")]
pub(super) struct Rates(Outcome);

#[pymethods]
impl Rates {
    /// Rate at which each flow is offered.
    #[getter]
    fn demand<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.0.demand)
    }

    /// Rate at which each flow leaves each hop of its route.
    #[getter]
    fn leaving<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.0.leaving)
    }

    /// Sweeps that it took; 1 for an exact solution in one pass.
    #[getter]
    fn sweeps(&self) -> usize {
        self.0.sweeps
    }
}

/// Capacities and routed flows. Use `ackclock.fluid.FluidNet`.
#[pyclass(frozen, module = "ackclock._core")]
pub(super) struct FluidCore(FluidNet);

#[pymethods]
impl FluidCore {
    #[new]
    fn new(
        py: Python<'_>,
        capacity: Floats<'_>,
        offsets: PyReadonlyArray1<'_, u32>,
        hops: PyReadonlyArray1<'_, u32>,
        weight: Floats<'_>,
    ) -> PyResult<Self> {
        let (capacity, weight) = (floats(&capacity), floats(&weight));
        let (offsets, hops) = (offsets.as_array().to_vec(), hops.as_array().to_vec());
        py.detach(|| FluidNet::new(capacity, offsets, hops, weight)).map(Self).map_err(error)
    }

    /// The global max-min allocation.
    fn max_min<'py>(
        &self,
        py: Python<'py>,
        demand: Floats<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let demand = floats(&demand);
        checked("demand", &demand, self.0.flows(), false)?;
        Ok(py.detach(|| fluid::max_min(&self.0, &demand)).into_pyarray(py))
    }

    /// The same by the paper's clamp algorithm.
    fn clamp<'py>(
        &self,
        py: Python<'py>,
        demand: Floats<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let demand = floats(&demand);
        checked("demand", &demand, self.0.flows(), false)?;
        Ok(py.detach(|| fluid::clamp(&self.0, &demand)).into_pyarray(py))
    }

    /// Rates where every link is max-min and sees only what arrives.
    fn brick_wall(&self, py: Python<'_>, demand: Floats<'_>) -> PyResult<Rates> {
        let demand = floats(&demand);
        checked("demand", &demand, self.0.flows(), true)?;
        Ok(Rates(py.detach(|| fluid::brick_wall(&self.0, &demand))))
    }

    /// Rates where links share by rules of their own.
    fn sweep(
        &self,
        py: Python<'_>,
        demand: Floats<'_>,
        rules: &str,
        of_link: PyReadonlyArray1<'_, u8>,
        tolerance: f64,
        limit: usize,
    ) -> PyResult<Rates> {
        let demand = floats(&demand);
        checked("demand", &demand, self.0.flows(), true)?;
        let routers = routers(rules, &of_link.as_array().to_vec(), self.0.links())?;
        let options = SweepOptions { tolerance, limit };
        py.detach(|| fluid::sweep(&self.0, &demand, &routers, &options)).map(Rates).map_err(error)
    }

    /// Where senders and network come to rest: rates, and how it went.
    #[expect(clippy::too_many_arguments, reason = "called by one Python function, by name")]
    #[pyo3(signature = (*, policy, rules, of_link, limits, tolerance, damping, least_damping, rounds,
                        sweep_tolerance, sweep_limit))]
    fn fixed_point<'py>(
        &self,
        py: Python<'py>,
        policy: &str,
        rules: &str,
        of_link: PyReadonlyArray1<'_, u8>,
        limits: Floats<'_>,
        tolerance: f64,
        damping: f64,
        least_damping: f64,
        rounds: usize,
        sweep_tolerance: f64,
        sweep_limit: usize,
    ) -> PyResult<(Rates, Bound<'py, PyDict>)> {
        let spec: serde_json::Value = serde_json::from_str(policy)
            .map_err(|e| input_error(&[Problem::new("sender", e.to_string())]))?;
        let policy = sender_policy(&spec, "sender").map_err(|problem| input_error(&[problem]))?;
        let routers = routers(rules, &of_link.as_array().to_vec(), self.0.links())?;
        let limits = floats(&limits);
        checked("demand", &limits, self.0.flows(), false)?;
        let options = Options {
            tolerance,
            damping,
            least_damping,
            limit: rounds,
            sweep: SweepOptions { tolerance: sweep_tolerance, limit: sweep_limit },
        };
        let found = py
            .detach(|| fluid::fixed_point(&self.0, policy.as_ref(), &routers, &limits, &options))
            .map_err(error)?;
        let how = PyDict::new(py);
        how.set_item("converged", found.converged)?;
        how.set_item("rounds", found.rounds)?;
        how.set_item("change", found.change)?;
        how.set_item("period", found.period)?;
        how.set_item("damping", found.damping)?;
        Ok((Rates(found.outcome), how))
    }

    /// Rates that were found elsewhere, to be accounted for here.
    fn rates(&self, demand: Floats<'_>, leaving: Floats<'_>) -> PyResult<Rates> {
        let (demand, leaving) = (floats(&demand), floats(&leaving));
        checked("demand", &demand, self.0.flows(), true)?;
        checked("leaving", &leaving, self.0.total_hops(), true)?;
        Ok(Rates(Outcome { demand, leaving, sweeps: 0 }))
    }

    /// Goodput of every flow.
    fn goodput<'py>(&self, py: Python<'py>, rates: &Rates) -> Bound<'py, PyArray1<f64>> {
        rates.0.goodputs(&self.0).into_pyarray(py)
    }

    /// Dead flow and zombies, per link and per flow.
    fn account<'py>(
        &self,
        py: Python<'py>,
        rates: &Rates,
        ideal: Floats<'_>,
        access: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let ideal = floats(&ideal);
        checked("ideal", &ideal, self.0.flows(), true)?;
        let books = py.detach(|| fluid::account(&self.0, &rates.0, &ideal, access));
        let out = PyDict::new(py);
        for (name, values) in [
            ("offered", books.offered),
            ("carried", books.carried),
            ("dead", books.dead),
            ("zombies_edge", books.zombies_edge),
            ("zombies", books.zombies),
            ("flow_dead", books.flow_dead),
            ("suffered", books.suffered),
            ("caused", books.caused),
            ("caused_edge", books.caused_edge),
        ] {
            out.set_item(name, values.into_pyarray(py))?;
        }
        out.set_item("uncaused", books.uncaused)?;
        out.set_item("uncaused_edge", books.uncaused_edge)?;
        Ok(out)
    }

    /// The max-min allocation with the level of each link, from which changes are found.
    fn allocate(&self, py: Python<'_>, demand: Floats<'_>) -> PyResult<Allocation> {
        let demand = floats(&demand);
        checked("demand", &demand, self.0.flows(), false)?;
        Ok(Allocation(py.detach(|| fluid::allocate(&self.0, &demand))))
    }

    /// What changes when a flow joins.
    fn add_flow<'py>(
        &self,
        py: Python<'py>,
        demand: Floats<'_>,
        before: &Allocation,
        route: Vec<u32>,
        weight: f64,
        wanted: f64,
    ) -> PyResult<Changed<'py>> {
        let demand = floats(&demand);
        checked("demand", &demand, self.0.flows(), false)?;
        checked("rate", &before.0.rate, self.0.flows(), true)?;
        // The newcomer alone on the same links must be right.
        let alone = vec![0, route.len() as u32];
        FluidNet::new(self.0.capacity().to_vec(), alone, route.clone(), vec![weight])
            .map_err(error)?;
        checked("demand", &[wanted], 1, false)?;
        let joining = fluid::Joining { route: &route, weight, demand: wanted };
        let update = py.detach(|| fluid::add_flow(&self.0, &demand, &before.0, joining));
        Ok(changed(py, update))
    }

    /// What changes when a flow leaves.
    fn remove_flow<'py>(
        &self,
        py: Python<'py>,
        demand: Floats<'_>,
        before: &Allocation,
        flow: usize,
    ) -> PyResult<Changed<'py>> {
        let demand = floats(&demand);
        checked("demand", &demand, self.0.flows(), false)?;
        checked("rate", &before.0.rate, self.0.flows(), true)?;
        if flow >= self.0.flows() {
            let message = format!("is {flow}; there are {} flows, numbered from 0", self.0.flows());
            return Err(input_error(&[Problem::new("flow", message)]));
        }
        let update = py.detach(|| fluid::remove_flow(&self.0, &demand, &before.0, flow));
        Ok(changed(py, update))
    }
}

/// A max-min allocation with what is needed to change it.
#[pyclass(frozen, module = "ackclock._core")]
pub(super) struct Allocation(fluid::Allocation);

#[pymethods]
impl Allocation {
    /// Rate of each flow.
    #[getter]
    fn rate<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.0.rate)
    }

    /// Level of each link, rate per weight; infinite where it is not full.
    #[getter]
    fn level<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.0.level)
    }
}

type Numbered<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);

/// Flows with their new rates, links with their new levels, and whether all was filled anew.
type Changed<'py> = (Numbered<'py>, Numbered<'py>, bool);

fn changed(py: Python<'_>, update: fluid::Updated) -> Changed<'_> {
    let arrays = |pairs: Vec<(u32, f64)>| {
        let (numbers, values): (Vec<u32>, Vec<f64>) = pairs.into_iter().unzip();
        (numbers.into_pyarray(py), values.into_pyarray(py))
    };
    (arrays(update.rates), arrays(update.levels), update.whole)
}

/// Routes of flows: offsets, links, and the flows without any path.
#[pyfunction]
pub(super) fn shortest_paths<'py>(
    py: Python<'py>,
    nodes: usize,
    src: Ids<'_>,
    dst: Ids<'_>,
    cost: Floats<'_>,
    from: Ids<'_>,
    to: Ids<'_>,
) -> [Bound<'py, PyArray1<u32>>; 3] {
    let ids = |values: &Ids<'_>| values.as_array().to_vec();
    let (src, dst, from, to, cost) = (ids(&src), ids(&dst), ids(&from), ids(&to), floats(&cost));
    let routes = py.detach(|| {
        let map = fluid::Map { nodes, src: &src, dst: &dst, cost: &cost };
        fluid::shortest_paths(&map, &from, &to)
    });
    [routes.offsets, routes.hops, routes.unreachable].map(|ids| ids.into_pyarray(py))
}

/// Nodes and links of a scenario's network as JSON: names, and `[a, b, rate, back rate, weight]`.
#[pyfunction]
pub(super) fn layout(net: &str) -> PyResult<String> {
    ackclock_core::api::layout(net).map_err(|problems| input_error(&problems))
}
