//! Prints the windows of several controls, each alone on one path.
//!
//! ```text
//! cargo run --release -- quinn/cubic,cubic [Mbit/s] [round trip in ms] [buffer in BDP] [seconds]
//! ```

use std::process::ExitCode;
use std::time::Duration;

use ackclock_stacks::{DATAGRAM, Path, Trace, run_single};

const WIRE_BITS: f64 = (DATAGRAM + 28.0) * 8.0;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match compare(&arguments) {
        Ok(table) => {
            print!("{table}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("ackclock-stacks: {message}");
            ExitCode::from(2)
        }
    }
}

fn number(arguments: &[String], index: usize, name: &str, otherwise: f64) -> Result<f64, String> {
    let Some(text) = arguments.get(index) else { return Ok(otherwise) };
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0);
    value.ok_or_else(|| format!("{name} is \"{text}\", expected a number above 0"))
}

fn compare(arguments: &[String]) -> Result<String, String> {
    let names = arguments.first().map_or("quinn/cubic,s2n/cubic,cubic", String::as_str);
    let rate_bps = number(arguments, 1, "the rate", 20.0)? * 1e6;
    let rtt_s = number(arguments, 2, "the round trip", 40.0)? / 1e3;
    let bdps = number(arguments, 3, "the buffer", 1.0)?;
    let seconds = number(arguments, 4, "the time", 30.0)?;
    let buffer = (bdps * rate_bps * rtt_s / WIRE_BITS).round().max(1.0) as usize;
    let path = Path { rate_bps, delay: Duration::from_secs_f64(rtt_s / 2.0), buffer };
    let (end, warmup) = (Duration::from_secs_f64(seconds), Duration::from_secs_f64(seconds / 4.0));
    let mut table = format!(
        "{} Mbit/s, {} ms, {buffer} packets, from {} s to {seconds} s\n\n\
         control         goodput [Mbit/s]  cwnd [packets]: least  mean   most         cuts  drops\n",
        rate_bps / 1e6,
        rtt_s * 1e3,
        seconds / 4.0,
    );
    for name in names.split(',') {
        let trace = run_single(name, path, warmup, end)?;
        table += &row(name, &trace, warmup, end);
    }
    Ok(table)
}

fn row(name: &str, trace: &Trace, warmup: Duration, end: Duration) -> String {
    let [least, mean, most] = trace.window(warmup, end).map(|bytes| bytes / DATAGRAM);
    format!(
        "{name:<15} {:>16.3}  {least:>21.1} {mean:>6.1} {most:>6.1} {:>11} {:>6}\n",
        trace.goodput_bps(warmup, end) / 1e6,
        trace.cuts().len(),
        trace.dropped,
    )
}
