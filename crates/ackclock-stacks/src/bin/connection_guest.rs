//! A connection of quinn or noq as a guest of ackclock: `connection-guest quinn/cubic`.

#[expect(unreachable_pub, reason = "a template, which is a module here")]
#[path = "../../../../examples/guests/rust/src/frames.rs"]
mod frames;

use std::process::ExitCode;

use ackclock_stacks::connections::guest::{Connected, Driven, Flow};
use frames::{Answer, NONE, Stack, Start, State, serve};

/// Either end, by the name of its connection.
struct Connection {
    name: String,
    end: Option<Driven>,
}

impl Connection {
    fn answer(
        &mut self,
        now: u64,
        call: impl FnOnce(&mut Driven) -> Result<Connected, String>,
    ) -> Result<Answer, String> {
        let Some(end) = &mut self.end else { return Ok(Answer::default()) };
        let answer = call(end)?;
        Ok(Answer {
            datagrams: answer
                .datagrams
                .into_iter()
                .map(|(capable, d)| (if capable { 2 } else { 0 }, d))
                .collect(),
            deadline: answer.deadline_ns.map_or(NONE, |deadline| deadline.max(now)),
            delivered: answer.delivered,
            is_complete: answer.is_complete,
            state: answer.state.map(|s| State {
                cwnd: s.cwnd,
                ssthresh: s.ssthresh.unwrap_or(NONE),
                in_flight: s.in_flight,
                srtt: s.srtt_ns,
                min_rtt: s.min_rtt_ns,
                pacing_bps: 0,
                lost: s.lost,
                reductions: s.reductions,
                phase: "",
            }),
        })
    }
}

impl Stack for Connection {
    fn start(&mut self, now: u64, start: &Start) -> Result<Answer, String> {
        let flow = Flow {
            is_client: start.is_client,
            ecn: start.ecn,
            flow: start.flow,
            seed: start.seed,
            max_datagram: start.max_datagram,
            initial_window: start.initial_window,
            bytes: (start.bytes != NONE).then_some(start.bytes),
        };
        self.end = Some(Driven::new(&self.name, &flow)?);
        self.answer(now, |end| end.start(now))
    }

    fn packet(&mut self, now: u64, mark: u8, datagram: &[u8]) -> Result<Answer, String> {
        self.answer(now, |end| end.packet(now, mark, datagram))
    }

    fn time(&mut self, now: u64) -> Result<Answer, String> {
        self.answer(now, |end| end.time(now))
    }
}

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_else(|| "quinn/cubic".to_owned());
    let title = ackclock_stacks::connections::guest::title(&name);
    match serve(&mut Connection { name, end: None }, &title, false) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("connection-guest: {error}");
            ExitCode::FAILURE
        }
    }
}
