//! An emulation: a thread that carries packets between two devices.

use std::num::NonZeroU64;
use std::os::fd::{OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use ackclock_core::api::{self, Columns};
use ackclock_core::compile::Plan;
use ackclock_core::error::Problem;
use ackclock_core::ids::FlowId;
use ackclock_core::packet::{Live, LiveFlow};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use rustix::thread::{gettid, set_current_timer_slack};

use crate::carry::Carrier;
pub use crate::carry::{Captured, Carried};
use crate::ip::Numbering;
use crate::scope::Scope;

/// Why an emulation ended without results.
#[derive(Debug)]
pub enum Failure {
    /// The machine does not do what is needed; the sentence says what.
    Machine(String),
    /// A fault of ours, with its numbers.
    Fault(String),
}

/// What came of an emulation.
#[derive(Debug)]
pub struct Emulated {
    /// The tables `links` and those recorded of links.
    pub tables: Vec<(&'static str, Columns)>,
    /// What passed of each flow.
    pub flows: Vec<LiveFlow>,
    /// Packets times links.
    pub packet_hops: u64,
    /// Events handled.
    pub events: u64,
    /// What the loop found.
    pub carried: Carried,
}

type Done = Result<(Live, Carried), Errno>;

/// An emulation: made, started, finished.
#[expect(missing_debug_implementations, reason = "holds disciplines")]
pub struct Emulator {
    plan: Plan,
    scope: Scope,
    running: Option<(Arc<AtomicBool>, JoinHandle<()>, Receiver<Done>)>,
    outcome: Option<Done>,
}

impl Emulator {
    /// Prepares a scenario, given as JSON.
    ///
    /// # Errors
    /// What is wrong with it, or cannot be emulated.
    pub fn new(text: &str) -> Result<Self, Vec<Problem>> {
        let plan = api::planned(text)?;
        let scope = Scope::of(&plan)?;
        Ok(Self { plan, scope, running: None, outcome: None })
    }

    /// What the scenario requires of the hosts.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Starts the thread that carries packets between two descriptors of this process, which are duplicated; returns its
    /// number in the kernel. `origin` is when the emulation begins [ns of the monotonic clock].
    ///
    /// # Errors
    /// Descriptors that are none, or no thread.
    pub fn start(
        &mut self,
        devices: [RawFd; 2],
        origin: u64,
        captures: bool,
    ) -> Result<i32, Failure> {
        let devices = duplicate(devices)
            .map_err(|error| Failure::Machine(format!("the devices cannot be used ({error})")))?;
        let live = Live::new(&self.plan).map_err(|problems| {
            Failure::Fault(format!("a checked scenario is refused: {problems:?}"))
        })?;
        let flows = self.plan.flows.iter().enumerate();
        let flows = flows.map(|(i, flow)| Numbering::new(FlowId(i as u32), flow.tcp.mss)).collect();
        let end = self.plan.duration;
        let stops = Arc::new(AtomicBool::new(false));
        let (stopped, (report, reported), (ended, outcome)) =
            (Arc::clone(&stops), channel(), channel());
        let work = move || {
            // A timer of a thread without real-time priority is else up to 50 us late.
            let _ = set_current_timer_slack(NonZeroU64::new(1));
            let _ = report.send(gettid());
            let carrier = Carrier::new(live, &devices, flows, origin, end, captures);
            let _ = ended.send(carrier.run(&stopped));
        };
        let thread =
            std::thread::Builder::new().name("ackclock-link".to_owned()).spawn(work).map_err(
                |error| Failure::Machine(format!("there is no thread for the link ({error})")),
            )?;
        let id =
            reported.recv().map_err(|_| Failure::Fault("the link ended at once".to_owned()))?;
        self.running = Some((stops, thread, outcome));
        Ok(id.as_raw_nonzero().get())
    }

    /// Waits until the emulation has ended, at most so long; returns whether it has.
    pub fn wait(&mut self, most: Duration) -> bool {
        let Some((_, _, outcome)) = &self.running else { return true };
        match outcome.recv_timeout(most) {
            Ok(result) => self.outcome = Some(result),
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => {}
        }
        self.join();
        true
    }

    /// Stops the emulation, if it runs, without results.
    pub fn stop(&mut self) {
        if let Some((stops, ..)) = &self.running {
            stops.store(true, Ordering::Relaxed);
        }
        self.join();
    }

    fn join(&mut self) {
        if let Some((_, thread, _)) = self.running.take() {
            let _ = thread.join();
        }
    }

    /// The results of an emulation that has ended.
    ///
    /// # Errors
    /// It has none.
    pub fn finish(&mut self) -> Result<Emulated, Failure> {
        let Some(outcome) = self.outcome.take() else {
            return Err(Failure::Fault("the link ended without results".to_owned()));
        };
        let (live, carried) =
            outcome.map_err(|error| Failure::Machine(format!("a device failed ({error})")))?;
        let flows = live.flows().to_vec();
        let (plan, results) = live.finish().map_err(Failure::Fault)?;
        let tables = api::live_tables(&plan, &results);
        let (packet_hops, events) = (results.packet_hops, results.events);
        Ok(Emulated { tables, flows, packet_hops, events, carried })
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Duplicates of descriptors of this process, which the caller may close.
fn duplicate(devices: [RawFd; 2]) -> Result<[OwnedFd; 2], Errno> {
    let process = pidfd_open(getpid(), PidfdFlags::empty())?;
    let [sender, receiver] = devices;
    let copy = |fd| pidfd_getfd(&process, fd, PidfdGetfdFlags::empty());
    Ok([copy(sender)?, copy(receiver)?])
}
