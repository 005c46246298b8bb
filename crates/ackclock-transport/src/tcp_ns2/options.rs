//! Variables of ns-2's agents that have no counterpart in [`TcpConfig`](crate::tcp::TcpConfig).

use crate::era::Era;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Variables of ns-2.35's TCP agents by their ns-2 names without the trailing underscore (the
/// snake-case field names are accepted too). Defaults are those of `ns-default.tcl` 2.35.
///
/// Variables with a counterpart in the TCP settings are set there: `windowInit_` is
/// `initial_window`, `window_` `receiver_window`, `minrto_` `min_rto`, `maxrto_` `max_rto`,
/// `rtxcur_init_` `initial_rto`, `tcpTick_` `tick`, `singledup_` `limited_transmit`, `maxburst_`
/// `max_burst`, `ecn_` `ecn`, `timestamps_` `timestamps`, `syn_` `syn`, `useHeaders_` `header`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ns2Options {
    /// cwnd keeps its fraction when it is reduced. False: it becomes a whole number.
    #[serde(rename = "precisionReduce", alias = "precision_reduce")]
    pub precision_reduce: bool,
    /// The loss of the first data packet may be repaired by a fast retransmit, and after the loss of
    /// the connection request the initial window is 1. False by default in the eras before 2006.
    #[serde(rename = "bugfix_ss")]
    pub bugfix_ss: bool,
    /// No second fast retransmit for losses in the same window.
    #[serde(rename = "bugFix", alias = "bug_fix")]
    pub bug_fix: bool,
    /// Duplicate acknowledgements that trigger a fast retransmit (1 or more).
    pub numdupacks: u32,
    /// The first reduction of a flow halves, whatever its control says.
    pub first_decrease: bool,
    /// NewReno: only the first partial acknowledgement of a recovery restarts the timer.
    pub newreno_changes1: bool,
    /// NewReno: a partial acknowledgement takes what it acknowledges off the inflated window.
    pub partial_window_deflation: bool,
    /// The window opens to the initial window when the connection request is acknowledged; false:
    /// the flow starts with it and the request's acknowledgement counts as any other.
    pub delay_growth: bool,
    /// The minimum RTO is multiplied by the backoff (RFC 2988); false: it bounds the product.
    pub rfc2988: bool,
    /// cwnd never grows beyond this \[packets\]; 0: no bound.
    pub maxcwnd: f64,
}

impl Default for Ns2Options {
    fn default() -> Self {
        Self {
            precision_reduce: true,
            bugfix_ss: true,
            bug_fix: true,
            numdupacks: 3,
            first_decrease: true,
            newreno_changes1: true,
            partial_window_deflation: true,
            delay_growth: true,
            rfc2988: true,
            maxcwnd: 0.0,
        }
    }
}

impl Ns2Options {
    /// Defaults of an era: what ns-2 gained later is off.
    pub fn of_era(era: Era) -> Self {
        Self { bugfix_ss: !matches!(era, Era::Y1999 | Era::Y2002), ..Self::default() }
    }

    /// From the scenario's map over the era's defaults; an error names the variable.
    pub fn from_map(
        map: &serde_json::Map<String, serde_json::Value>,
        era: Era,
    ) -> Result<Self, String> {
        let mut options: Self = serde_json::from_value(serde_json::Value::Object(map.clone()))
            .map_err(|e| e.to_string())?;
        if !map.contains_key("bugfix_ss") {
            options.bugfix_ss = Self::of_era(era).bugfix_ss;
        }
        if options.numdupacks == 0 {
            return Err("numdupacks must be at least 1".to_owned());
        }
        if !options.maxcwnd.is_finite() || options.maxcwnd < 0.0 {
            return Err("maxcwnd must be 0 (no bound) or a number of packets".to_owned());
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Ns2Options, String> {
        Ns2Options::from_map(&serde_json::from_str(text).unwrap(), Era::Y2002)
    }

    #[test]
    fn both_spellings_are_read_and_unknown_variables_are_named() {
        let options = parse(r#"{"precisionReduce": false, "bug_fix": false}"#).unwrap();
        assert!(
            !options.precision_reduce && !options.bug_fix && options.rfc2988 && !options.bugfix_ss
        );
        assert!(parse(r#"{"bugfix_ss": true}"#).unwrap().bugfix_ss);
        assert!(Ns2Options::of_era(Era::Y2007).bugfix_ss);
        assert!(parse(r#"{"overhead": 1}"#).unwrap_err().contains("overhead"));
        assert!(parse(r#"{"numdupacks": 0}"#).unwrap_err().contains("numdupacks"));
    }
}
