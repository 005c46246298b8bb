//! A small reliable transport as a guest: a fixed window, and all of it again after a timeout (go-back-N). It shows what
//! a stack has to do, and is no protocol of anything else.
//!
//! ```text
//! client  number of the chunk (8 bytes), payload
//! server  number of the next chunk that it expects (8 bytes)
//! ```

mod frames;

use frames::{Answer, NONE, Stack, Start, State, serve};

const HEAD: u64 = 8;
const TIMEOUT: u64 = 300_000_000;

/// Either end.
#[derive(Default)]
struct GoBack {
    is_client: bool,
    chunk: u64,
    window: u64,
    bytes: u64,
    /// The first chunk that is not acknowledged or, of the server, has not arrived; the next that is sent.
    first: u64,
    next: u64,
    delivered: u64,
    deadline: u64,
    lost: u64,
}

impl GoBack {
    fn size_of(&self, chunk: u64) -> u64 {
        if self.bytes == NONE {
            return self.chunk;
        }
        self.bytes.saturating_sub(chunk * self.chunk).min(self.chunk)
    }

    fn send(&mut self, now: u64) -> Answer {
        let mut datagrams = Vec::new();
        while self.next < self.first + self.window && self.size_of(self.next) > 0 {
            let mut datagram = self.next.to_le_bytes().to_vec();
            datagram.resize((HEAD + self.size_of(self.next)) as usize, 0);
            datagrams.push((0, datagram));
            self.next += 1;
        }
        let in_flight = self.next - self.first;
        self.deadline = if in_flight > 0 { now + TIMEOUT } else { NONE };
        let datagram = self.chunk + HEAD;
        Answer {
            datagrams,
            deadline: self.deadline,
            delivered: if self.bytes == NONE { self.first * self.chunk } else { self.bytes.min(self.first * self.chunk) },
            is_complete: in_flight == 0,
            state: Some(State {
                cwnd: self.window * datagram,
                ssthresh: NONE,
                in_flight: in_flight * datagram,
                lost: self.lost,
                ..State::default()
            }),
        }
    }
}

impl Stack for GoBack {
    fn start(&mut self, now: u64, start: &Start) -> Result<Answer, String> {
        self.is_client = start.is_client;
        self.chunk = u64::from(start.max_datagram) - HEAD;
        self.window = u64::from(start.initial_window);
        self.bytes = start.bytes;
        Ok(if self.is_client { self.send(now) } else { Answer::default() })
    }

    fn packet(&mut self, now: u64, _mark: u8, datagram: &[u8]) -> Result<Answer, String> {
        let Some((number, payload)) = datagram.split_first_chunk::<8>() else {
            return Err("got a datagram without a number".to_owned());
        };
        let number = u64::from_le_bytes(*number);
        if self.is_client {
            self.first = self.first.max(number);
            self.next = self.next.max(self.first);
            return Ok(self.send(now));
        }
        if number == self.first {
            self.first += 1;
            self.delivered += payload.len() as u64;
        }
        let answer = vec![(0, self.first.to_le_bytes().to_vec())];
        Ok(Answer { datagrams: answer, delivered: self.delivered, ..Answer::default() })
    }

    fn time(&mut self, now: u64) -> Result<Answer, String> {
        self.lost += self.next - self.first;
        self.next = self.first;
        Ok(self.send(now))
    }
}

fn main() -> std::io::Result<()> {
    serve(&mut GoBack::default(), "go-back-n 1", false)
}
