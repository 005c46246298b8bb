//! The fluid engine for Python: arrays in, arrays out.
//!
//! A network is copied in once, when it is made; results are handed over without a copy. The
//! interpreter's lock is released while the engine works.

use ackclock_core::api::{sender_policy, sharing_rule};
use ackclock_core::error::Problem;
use ackclock_core::fluid::{
    self, Demand, DrawOptions, DynamicsError, FluidError, FluidNet, Options, Outcome, Policies,
    Routers, Rule, Sizes, SweepOptions, Transfers, Window,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::watched::watched;
use super::{engine_fault, input_error};

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

fn check_values(name: &str, values: &[f64], flows: usize, finite: bool) -> PyResult<()> {
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
        built.push(sharing_rule(&spec, "routers").map_err(|problems| input_error(&problems))?);
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

/// The rates that the engine found to a tolerance, in parts of capacities, if a network can bring them about.
fn possible(net: &FluidNet, outcome: Outcome, tolerance: f64) -> PyResult<Rates> {
    outcome.check_within(net, tolerance).map_err(|broken| engine_fault(&broken))?;
    Ok(Rates(outcome))
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
        let (offsets, hops) = (offsets.as_array(), hops.as_array());
        // Hundreds of millions of hops are copied without the interpreter's lock, so that signals are handled.
        py.detach(|| FluidNet::new(capacity, offsets.to_vec(), hops.to_vec(), weight))
            .map(Self)
            .map_err(error)
    }

    /// The global max-min allocation.
    fn max_min<'py>(
        &self,
        py: Python<'py>,
        demand: Floats<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let demand = floats(&demand);
        check_values("demand", &demand, self.0.flows(), false)?;
        Ok(py.detach(|| fluid::max_min(&self.0, &demand)).into_pyarray(py))
    }

    /// The same by the paper's clamp algorithm.
    fn clamp<'py>(
        &self,
        py: Python<'py>,
        demand: Floats<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let demand = floats(&demand);
        check_values("demand", &demand, self.0.flows(), false)?;
        Ok(py.detach(|| fluid::clamp(&self.0, &demand)).into_pyarray(py))
    }

    /// Rates where every link is max-min and sees only what arrives.
    fn brick_wall(&self, py: Python<'_>, demand: Floats<'_>) -> PyResult<Rates> {
        let demand = floats(&demand);
        check_values("demand", &demand, self.0.flows(), true)?;
        possible(&self.0, py.detach(|| fluid::brick_wall(&self.0, &demand)), 0.0)
    }

    /// Rates where links have different sharing rules.
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
        check_values("demand", &demand, self.0.flows(), true)?;
        let routers = routers(rules, &of_link.as_array().to_vec(), self.0.links())?;
        let options = SweepOptions { tolerance, limit };
        let outcome = py.detach(|| fluid::sweep(&self.0, &demand, &routers, &options));
        possible(&self.0, outcome.map_err(error)?, tolerance)
    }

    /// Where senders and network come to rest: rates, and how it went.
    #[expect(clippy::too_many_arguments, reason = "called by one Python function, by name")]
    #[pyo3(signature = (*, policies, of_sender, rules, of_link, limits, tolerance, damping, least_damping, rounds,
                        sweep_tolerance, sweep_limit))]
    fn fixed_point<'py>(
        &self,
        py: Python<'py>,
        policies: &str,
        of_sender: PyReadonlyArray1<'_, u8>,
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
        let policies = self::policies(policies, &of_sender.as_array().to_vec(), self.0.links())?;
        let routers = routers(rules, &of_link.as_array().to_vec(), self.0.links())?;
        let limits = floats(&limits);
        check_values("demand", &limits, self.0.flows(), false)?;
        let options = Options {
            tolerance,
            damping,
            least_damping,
            limit: rounds,
            sweep: SweepOptions { tolerance: sweep_tolerance, limit: sweep_limit },
        };
        let solution = py
            .detach(|| fluid::fixed_point(&self.0, &policies, &routers, &limits, &options))
            .map_err(error)?;
        let how = PyDict::new(py);
        how.set_item("converged", solution.converged)?;
        how.set_item("rounds", solution.rounds)?;
        how.set_item("change", solution.change)?;
        how.set_item("period", solution.period)?;
        how.set_item("damping", solution.damping)?;
        Ok((possible(&self.0, solution.outcome, sweep_tolerance)?, how))
    }

    /// Rates that were found elsewhere, to be accounted for here.
    fn rates(&self, demand: Floats<'_>, leaving: Floats<'_>) -> PyResult<Rates> {
        let (demand, leaving) = (floats(&demand), floats(&leaving));
        check_values("demand", &demand, self.0.flows(), true)?;
        check_values("leaving", &leaving, self.0.total_hops(), true)?;
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
        check_values("ideal", &ideal, self.0.flows(), true)?;
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

    /// Runs finite flows that arrive and leave: arrays and counts by name.
    #[expect(clippy::too_many_arguments, reason = "called by one Python function, by name")]
    #[pyo3(signature = (*, time, flow, size, peak, until, drain, interval, senders, progress))]
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        time: Floats<'_>,
        flow: Ids<'_>,
        size: Floats<'_>,
        peak: Floats<'_>,
        until: f64,
        drain: bool,
        interval: Option<f64>,
        senders: Option<&Bound<'py, PyDict>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let transfers =
            Transfers { time: floats(&time), class: flow.as_array().to_vec(), size: floats(&size) };
        let peak = floats(&peak);
        check_values("peak", &peak, self.0.flows(), false)?;
        transfers_checked(&transfers, self.0.flows())?;
        let offered = senders.map(|sender_dict| self.offered(sender_dict)).transpose()?;
        let rule = match &offered {
            None => Rule::MaxMin,
            Some(sender_dict) => Rule::Senders {
                policies: &sender_dict.policies,
                routers: &sender_dict.routers,
                options: &sender_dict.options,
                reaction: sender_dict.reaction,
            },
        };
        let window = Window { until, drain, interval };
        let result = watched(py, progress.as_ref(), |go| {
            fluid::simulate(&self.0, &peak, &transfers, &rule, &window, go)
        })?;
        let report = result.map_err(|failed| match failed {
            DynamicsError::Fluid(fluid) => error(fluid),
            DynamicsError::Stopped => PyRuntimeError::new_err("the run was stopped"),
        })?;
        report.check(&self.0, &transfers).map_err(|broken| engine_fault(&broken))?;
        let out = PyDict::new(py);
        for (name, values) in [
            ("completion", report.completion),
            ("delivered", report.delivered),
            ("offered", report.offered),
            ("carried", report.carried),
            ("samples", report.samples),
            ("sampled_active", report.sampled_active),
        ] {
            out.set_item(name, values.into_pyarray(py))?;
        }
        for (name, value) in [
            ("end", report.end),
            ("mean_active", report.mean_active),
            ("freed", report.freed),
            ("taken_up", report.taken_up),
        ] {
            out.set_item(name, value)?;
        }
        for (name, value) in [
            ("events", report.events),
            ("most_active", report.most_active as u64),
            ("solutions", report.effort.solutions),
            ("whole", report.effort.full_solutions),
            ("solved", report.effort.solved),
            ("unsettled", report.unsettled),
        ] {
            out.set_item(name, value)?;
        }
        Ok(out)
    }
}

/// What senders and routers do in a run over time.
struct Behaviour {
    policies: Policies,
    routers: Routers,
    options: Options,
    reaction: Option<f64>,
}

impl FluidCore {
    fn offered(&self, senders: &Bound<'_, PyDict>) -> PyResult<Behaviour> {
        let item = |name: &str| {
            senders.get_item(name)?.ok_or_else(|| PyRuntimeError::new_err(format!("no {name}")))
        };
        let rules: String = item("rules")?.extract()?;
        let of_link: PyReadonlyArray1<'_, u8> = item("of_link")?.extract()?;
        let named: String = item("policies")?.extract()?;
        let of_sender: PyReadonlyArray1<'_, u8> = item("of_sender")?.extract()?;
        Ok(Behaviour {
            policies: policies(&named, &of_sender.as_array().to_vec(), self.0.links())?,
            routers: routers(&rules, &of_link.as_array().to_vec(), self.0.links())?,
            options: Options {
                tolerance: item("tolerance")?.extract()?,
                damping: item("damping")?.extract()?,
                least_damping: item("least_damping")?.extract()?,
                limit: item("rounds")?.extract()?,
                sweep: SweepOptions {
                    tolerance: item("sweep_tolerance")?.extract()?,
                    limit: item("sweep_limit")?.extract()?,
                },
            },
            reaction: item("reaction")?.extract()?,
        })
    }
}

/// Transfers whose arrays belong together, in order of time, with sizes above 0.
fn transfers_checked(transfers: &Transfers, flows: usize) -> PyResult<()> {
    let mut problems = Vec::new();
    let count = transfers.time.len();
    if transfers.class.len() != count || transfers.size.len() != count {
        problems.push(Problem::new("transfers", "times, flows and sizes differ in number"));
    }
    let ordered = transfers.time.is_sorted_by(|a, b| a <= b);
    if !ordered || transfers.time.iter().any(|t| !(*t >= 0.0 && t.is_finite())) {
        problems.push(Problem::new("time", "expected finite times of 0 or more, in order"));
    }
    if transfers.class.iter().any(|&class| class as usize >= flows) {
        problems.push(Problem::new("flow", format!("expected numbers below {flows}")));
    }
    if transfers.size.iter().any(|size| !(*size > 0.0 && size.is_finite())) {
        problems.push(Problem::new("size", "expected finite sizes above 0"));
    }
    if problems.is_empty() { Ok(()) } else { Err(input_error(&problems)) }
}

/// Policies by name, and which sender has which.
fn policies(named: &str, of_link: &[u8], links: usize) -> PyResult<Policies> {
    let specs: Vec<serde_json::Value> = serde_json::from_str(named)
        .map_err(|e| input_error(&[Problem::new("sender", e.to_string())]))?;
    let mut built = Vec::new();
    for spec in specs {
        built.push(sender_policy(&spec, "sender").map_err(|problems| input_error(&problems))?);
    }
    let is_complete = of_link.is_empty() || of_link.len() == links;
    if !is_complete || built.is_empty() || of_link.iter().any(|&p| usize::from(p) >= built.len()) {
        let message =
            format!("must name one of {} policies for each of {links} links", built.len());
        return Err(input_error(&[Problem::new("sender", message)]));
    }
    Ok(Policies { policies: built, of_link: of_link.to_vec() })
}

/// Times, flows and sizes.
type Drawn<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);

/// Draws Poisson arrivals.
///
/// `sizes` is the distribution as JSON; just one of `rate` and `load` is given.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called by one Python function, by name")]
#[pyo3(signature = (*, share, sizes, rate, load, load_per_rate, seed, until, count))]
pub(super) fn draw_transfers<'py>(
    py: Python<'py>,
    share: Floats<'_>,
    sizes: &str,
    rate: Option<f64>,
    load: Option<f64>,
    load_per_rate: f64,
    seed: u64,
    until: f64,
    count: u64,
) -> PyResult<Drawn<'py>> {
    let sizes = sizes_of(sizes)?;
    let demand = match (rate, load) {
        (Some(rate), None) => Demand::Rate(rate),
        (None, Some(load)) => Demand::Load(load),
        _ => {
            let problem = Problem::new("arrivals", "expected one of rate and load");
            return Err(input_error(&[problem]));
        }
    };
    let options = DrawOptions { seed, until, count };
    let share = floats(&share);
    let transfers = py.detach(|| fluid::draw(&share, &sizes, demand, load_per_rate, &options));
    Ok((
        transfers.time.into_pyarray(py),
        transfers.class.into_pyarray(py),
        transfers.size.into_pyarray(py),
    ))
}

/// Mean of a distribution of sizes, given as JSON.
#[pyfunction]
pub(super) fn mean_size(sizes: &str) -> PyResult<f64> {
    Ok(sizes_of(sizes)?.mean())
}

fn sizes_of(text: &str) -> PyResult<Sizes> {
    let sizes: Sizes = serde_json::from_str(text)
        .map_err(|e| input_error(&[Problem::new("sizes", e.to_string())]))?;
    match sizes.check() {
        Ok(()) => Ok(sizes),
        Err(message) => {
            let (name, reason) = message.split_once(' ').unwrap_or(("", &message));
            Err(input_error(&[Problem::new(format!("sizes.{name}"), reason)]))
        }
    }
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
