//! A guest that is a child process, with its standard input and output as the two directions of the protocol.
//!
//! It runs in a process group of its own, so that Ctrl-C on the terminal reaches the simulator alone, which then ends it.
//! No result depends on the wall's clock: it only ends a guest that does not answer.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::placement::Placement;
use crate::protocol::{
    Answer, Event, LONGEST_FRAME, Ready, VERSION, read_answer, read_ready, write_end, write_event,
    write_hello,
};
use crate::{Failure, Guest};

/// A guest that is waited for is looked after this often.
const SLICE: Duration = Duration::from_millis(100);
const SLICE_OF_POLL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// How long a guest may take to end by itself when the run is over: less than a command has after Ctrl-C.
const FAREWELL: Duration = Duration::from_millis(500);
/// Bytes that are read at once.
const PIECE: usize = 1 << 16;
/// Lines of standard error that are kept, and most bytes of each.
const LAST_LINES: usize = 10;
const LONGEST_LINE: u64 = 1000;

/// How to start a guest.
#[derive(Clone, Debug)]
pub struct Program {
    /// The program and its arguments; one at least.
    pub command: Vec<String>,
    /// Where it is started.
    pub folder: PathBuf,
    /// What its environment has beside ours.
    pub environment: Vec<(String, String)>,
    /// Longest wait for an answer.
    pub patience: Duration,
    /// Where the guests of the run are.
    pub placement: Placement,
}

/// Says, while a guest is waited for, whether the user has ended the run.
pub type Interrupted = Arc<dyn Fn() -> bool + Send + Sync>;

/// A running guest.
#[expect(missing_debug_implementations, reason = "holds a closure")]
pub struct Process {
    child: Child,
    /// Its standard input; nothing when the run is over.
    input: Option<ChildStdin>,
    output: ChildStdout,
    patience: Duration,
    placement: Placement,
    interrupted: Interrupted,
    errors: Arc<Mutex<VecDeque<String>>>,
    reader: Option<JoinHandle<()>>,
    ready: Ready,
    frame: Vec<u8>,
    /// Room for what is read, of which so much is there and belongs to no frame yet.
    room: Vec<u8>,
    arrived: usize,
    /// How it ended; afterwards its number may be another's.
    end: Option<ExitStatus>,
}

impl Process {
    /// Starts a guest and learns which version it uses.
    ///
    /// # Errors
    /// It cannot be started, or is no guest.
    pub fn start(program: &Program, interrupted: Interrupted) -> Result<Self, Failure> {
        let fault = |error: std::io::Error| Failure::broke(format!("cannot be started: {error}"));
        let Some((name, arguments)) = program.command.split_first() else {
            return Err(Failure::broke("cannot be started: it has no name"));
        };
        program.placement.take();
        let mut child = Command::new(name)
            .args(arguments)
            .current_dir(&program.folder)
            .envs(program.environment.iter().map(|(key, value)| (key, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(fault)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::broke("cannot be started: it has no input and output"));
        };
        program.placement.join(Pid::from_child(&child));
        let errors = Arc::default();
        let reader = child.stderr.take().map(|from| keep_last_lines(from, &errors));
        let ready = Ready { version: 0, abilities: 0, name: String::new() };
        let mut process = Self {
            child,
            input: Some(input),
            output,
            patience: program.patience,
            placement: program.placement.clone(),
            interrupted,
            errors,
            reader,
            ready,
            frame: Vec::new(),
            room: vec![0; PIECE],
            arrived: 0,
            end: None,
        };
        // Neither waits longer than a slice: the other side may be anything.
        let pipes = [process.input.as_ref().map(AsFd::as_fd), Some(process.output.as_fd())];
        for pipe in pipes.into_iter().flatten() {
            ioctl_fionbio(pipe, true).map_err(|error| fault(error.into()))?;
        }
        process.greet()?;
        Ok(process)
    }

    fn greet(&mut self) -> Result<(), Failure> {
        write_hello(&mut self.frame, [VERSION; 2]);
        self.send()?;
        self.receive()?;
        self.ready = read_ready(&self.frame).map_err(|breach| self.broke(breach))?;
        let version = self.ready.version;
        if version != VERSION {
            let breach = format!("uses version {version} of the protocol, expected {VERSION}");
            return Err(self.broke(breach));
        }
        Ok(())
    }

    /// What it said of itself.
    pub fn ready(&self) -> &Ready {
        &self.ready
    }

    fn broke(&mut self, breach: String) -> Failure {
        Failure::Broke { breach, last_lines: self.last_lines() }
    }

    /// What a wait of one more slice means, of which `waited` have passed.
    fn wait(&mut self, waited: &mut Duration) -> Result<(), Failure> {
        *waited += SLICE;
        if (self.interrupted)() {
            self.end_within(Duration::ZERO);
            return Err(Failure::Interrupted);
        }
        if *waited >= self.patience {
            let patience = self.patience.as_secs_f64();
            let breach =
                format!("did not answer for {patience} s of the wall's clock (guest.patience)");
            return Err(self.broke(breach));
        }
        Ok(())
    }

    /// Waits until a pipe is ready.
    fn poll(&mut self, direction: PollFlags, waited: &mut Duration) -> Result<(), Failure> {
        let pipe = match &self.input {
            Some(input) if direction == PollFlags::OUT => input.as_fd(),
            _ => self.output.as_fd(),
        };
        match poll(&mut [PollFd::from_borrowed_fd(pipe, direction)], Some(&SLICE_OF_POLL)) {
            Ok(0) => self.wait(waited),
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(_) => Err(self.gone()),
        }
    }

    /// Sends the frame.
    fn send(&mut self) -> Result<(), Failure> {
        let (mut sent, mut waited) = (0, Duration::ZERO);
        while sent < self.frame.len() {
            let Some(input) = &mut self.input else { return Err(self.gone()) };
            match input.write(&self.frame[sent..]) {
                Ok(0) => return Err(self.gone()),
                Ok(count) => sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.poll(PollFlags::OUT, &mut waited)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(self.gone()),
            }
        }
        Ok(())
    }

    /// Receives the next frame without its length.
    fn receive(&mut self) -> Result<(), Failure> {
        let mut waited = Duration::ZERO;
        let mut end = 4;
        loop {
            if self.arrived >= 4
                && let Some(length) = self.room.first_chunk::<4>()
            {
                let length = u32::from_le_bytes(*length) as usize;
                if !(1..=LONGEST_FRAME).contains(&length) {
                    let breach =
                        format!("wrote a frame of {length} bytes, expected 1 to {LONGEST_FRAME}");
                    return Err(self.broke(breach));
                }
                end = 4 + length;
                if self.arrived >= end {
                    break;
                }
            }
            if self.room.len() < end {
                self.room.resize(end, 0);
            }
            self.read_more(&mut waited)?;
        }
        self.frame.clear();
        self.frame.extend_from_slice(&self.room[4..end]);
        self.room.copy_within(end..self.arrived, 0);
        self.arrived -= end;
        Ok(())
    }

    fn read_more(&mut self, waited: &mut Duration) -> Result<(), Failure> {
        // An answer is never there yet, for the guest has just been told of its event.
        self.poll(PollFlags::IN, waited)?;
        match self.output.read(&mut self.room[self.arrived..]) {
            Ok(0) => Err(self.gone()),
            Ok(count) => {
                self.arrived += count;
                Ok(())
            }
            Err(error) if is_wait(error.kind()) => Ok(()),
            Err(_) => Err(self.gone()),
        }
    }

    /// It has closed its input or its output.
    fn gone(&mut self) -> Failure {
        let breach = match self.end_within(FAREWELL) {
            Some(status) => format!("ended before the run, {}", describe(status)),
            None => "closed its standard input or output before the run was over".to_owned(),
        };
        self.broke(breach)
    }

    /// Whether the child has ended, without forgetting its number.
    fn has_ended(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.end.is_some()
            || !matches!(waitid(WaitId::Pid(Pid::from_child(&self.child)), look), Ok(None))
    }

    /// Ends the child and all that it started, after it had a time to end by itself; its status, if it did.
    fn end_within(&mut self, time: Duration) -> Option<ExitStatus> {
        if self.end.is_some() {
            return self.end;
        }
        let step = Duration::from_millis(1);
        let mut waited = Duration::ZERO;
        while !self.has_ended() && waited < time {
            std::thread::sleep(step);
            waited += step;
        }
        let by_itself = self.has_ended();
        self.placement.leave(Pid::from_child(&self.child));
        // Its number is still its own, for it was not waited for.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        self.end = self.child.wait().ok();
        self.end.filter(|_| by_itself)
    }
}

fn is_wait(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;

    match (status.code(), status.signal()) {
        (Some(code), _) => format!("with exit status {code}"),
        (None, Some(signal)) => format!("by signal {signal}"),
        (None, None) => status.to_string(),
    }
}

/// Keeps the last lines of standard error, and takes all of it, so that nobody waits for a full pipe.
fn keep_last_lines(
    from: impl Read + Send + 'static,
    errors: &Arc<Mutex<VecDeque<String>>>,
) -> JoinHandle<()> {
    let errors = Arc::clone(errors);
    std::thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        loop {
            line.clear();
            match from.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let text = crate::protocol::readable(line.trim_ascii_end());
            let mut errors = errors.lock().unwrap_or_else(PoisonError::into_inner);
            if !text.is_empty() {
                errors.push_back(text);
            }
            if errors.len() > LAST_LINES {
                errors.pop_front();
            }
        }
    })
}

impl Guest for Process {
    fn abilities(&self) -> u32 {
        self.ready.abilities
    }

    fn exchange(
        &mut self,
        event: &Event<'_>,
        sequence: u32,
        now_ns: u64,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        write_event(&mut self.frame, event, sequence, now_ns);
        let may_move = self.placement.loosen();
        self.send()?;
        self.receive()?;
        if may_move {
            self.placement.settle();
        }
        read_answer(&mut self.frame, answer).map_err(|breach| self.broke(breach))?;
        if self.arrived > 0 {
            return Err(self.broke("wrote more than one answer to an event".to_owned()));
        }
        Ok(())
    }

    fn last_lines(&mut self) -> String {
        // It is of no more use, and what it wrote is there when its output has ended.
        self.end_within(Duration::ZERO);
        for _ in 0..50 {
            if self.reader.as_ref().is_none_or(JoinHandle::is_finished) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.iter().flat_map(|line| ["\n  ", line]).collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        write_end(&mut self.frame);
        // It may be gone, or not read.
        let _ = self.input.take().map(|mut input| input.write(&self.frame));
        self.end_within(FAREWELL);
    }
}
