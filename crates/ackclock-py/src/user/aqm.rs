//! An AQM written in Python, over one FIFO store.

use ackclock_core::qdisc::{Aqm, QdiscEnv, QueueState, Verdict as Decision};
use ackclock_core::rng::Stream;
use ackclock_core::units::{Span, Time};
use ackclock_core::wire::{DropReason, Flags, Packet as Wire};
use pyo3::prelude::*;

use super::views::{Packet, Queue, Verdict};
use super::{Cadence, Method, Owner};

pub(super) struct PyAqm {
    on_enqueue: Method,
    on_dequeue: Option<Method>,
    on_timer: Option<Method>,
    interval: Option<Span>,
    rate_bps: f64,
    owner: Owner,
}

pub(super) fn build(algorithm: &Bound<'_, PyAny>, env: &QdiscEnv, owner: Owner) -> PyResult<PyAqm> {
    let instance = algorithm.getattr("instance")?;
    let interval = match Cadence::of(&algorithm.getattr("cadence")?)? {
        Cadence::Every(interval) => Some(interval),
        Cadence::Each | Cadence::Round => None,
    };
    Ok(PyAqm {
        on_enqueue: Method::require(&instance, "on_enqueue")?,
        on_dequeue: Method::of(&instance, "on_dequeue")?,
        on_timer: Method::of(&instance, "on_timer")?,
        interval,
        rate_bps: env.rate.bps(),
        owner,
    })
}

impl PyAqm {
    fn queue(&self, state: &QueueState) -> Queue {
        Queue {
            now_s: state.now.seconds(),
            packets: state.packets,
            bytes: state.bytes.0,
            rate_bps: self.rate_bps,
        }
    }

    fn decide(&self, method: &Method, packet: &Wire, waited: Span, state: &QueueState) -> Decision {
        if self.owner.slot.has_failed() {
            return Decision::Pass; // the run is about to stop
        }
        let wire_packet = Packet {
            flow: packet.flow.0,
            seq: packet.seq,
            size_bytes: packet.size,
            is_ack: packet.is_ack(),
            ecn_capable: packet.flags.has(Flags::ECT),
            waited_s: waited.seconds(),
        };
        let queue = self.queue(state);
        Python::attach(|py| {
            let called = (|| {
                let returned =
                    method.call.call1(py, (Py::new(py, wire_packet)?, Py::new(py, queue)?))?;
                let verdict = returned.extract::<Verdict>(py);
                Ok::<_, PyErr>(verdict.or(Err(returned.bind(py).repr()?.to_string())))
            })();
            match called {
                Ok(Ok(Verdict::Pass)) => Decision::Pass,
                Ok(Ok(Verdict::Mark)) => Decision::MarkElseDrop(DropReason::Unmarkable),
                Ok(Ok(Verdict::Drop)) => Decision::Drop(DropReason::Early),
                Ok(Err(returned)) => {
                    let did = format!("returned {returned}");
                    let expected = "expected ackclock.Pass, ackclock.Mark or ackclock.Drop";
                    self.owner.broke(method.name, &did, method.line, state.now, expected);
                    Decision::Pass
                }
                Err(error) => {
                    self.owner.note_exception(py, error, state.now);
                    Decision::Pass
                }
            }
        })
    }
}

impl Aqm for PyAqm {
    fn on_enqueue(&mut self, packet: &Wire, queue: &QueueState, _rng: &mut Stream) -> Decision {
        self.decide(&self.on_enqueue, packet, Span::ZERO, queue)
    }

    fn on_dequeue(
        &mut self,
        packet: &Wire,
        since: Time,
        queue: &QueueState,
        _rng: &mut Stream,
    ) -> Decision {
        match &self.on_dequeue {
            Some(method) => self.decide(method, packet, queue.now.since(since), queue),
            None => Decision::Pass,
        }
    }

    fn timer_interval(&self) -> Option<Span> {
        self.interval
    }

    fn on_timer(&mut self, state: &QueueState) {
        let Some(method) = self.on_timer.as_ref().filter(|_| !self.owner.slot.has_failed()) else {
            return;
        };
        let queue = self.queue(state);
        Python::attach(|py| {
            if let Err(error) = Py::new(py, queue).and_then(|q| method.call.call1(py, (q,))) {
                self.owner.note_exception(py, error, state.now);
            }
        });
    }
}
