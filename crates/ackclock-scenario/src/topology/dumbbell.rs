//! Dumbbell: pairs of hosts that share one bottleneck.

use std::sync::LazyLock;

use super::{Layout, Topology, access_rate, check_nodes, links};
use crate::error::Problem;
use crate::registry::Ranges;
use crate::scenario::Dumbbell;
use crate::units::Span;

static RANGES: LazyLock<Ranges<1>> = LazyLock::new(|| Ranges::of::<Dumbbell>(["pairs"]));

impl Topology for Dumbbell {
    fn layout(&self, path: &str) -> Result<Layout, Vec<Problem>> {
        RANGES.check(path, [self.pairs.into()])?;
        check_nodes(path, "pairs", self.pairs, 2 * u64::from(self.pairs) + 2)?;
        let n = self.pairs as usize;
        let mut problems = Vec::new();
        let keys = [
            ("rtt", self.rtt.is_some()),
            ("rtts", self.rtts.is_some()),
            ("right_delays", self.right_delays.is_some()),
        ];
        let used: Vec<&str> = keys.iter().filter(|g| g.1).map(|g| g.0).collect();
        if used.len() > 1 {
            problems.push(Problem::new(
                path,
                format!("gives {}; expected one of them", used.join(" and ")),
            ));
        }
        for (key, list) in [("rtts", &self.rtts), ("right_delays", &self.right_delays)] {
            if let Some(list) = list
                && list.len() != n
            {
                problems.push(Problem::new(
                    format!("{path}.{key}"),
                    format!("has {} values for {n} pairs", list.len()),
                ));
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        // One way from host to host, by pair; then what the left access link and the bottleneck leave for the right.
        let halves: Option<Vec<Span>> = match (&self.rtt, &self.rtts) {
            (Some(rtt), _) => Some(vec![Span(rtt.0 / 2); n]),
            (_, Some(rtts)) => Some(rtts.iter().map(|r| Span(r.0 / 2)).collect()),
            _ => None,
        };
        let (delay, right) = match (halves, &self.right_delays) {
            (Some(halves), _) => {
                let least = halves.iter().copied().min().unwrap_or_default();
                let delay = self.delay.unwrap_or(least - self.access_delay - self.access_delay);
                let fixed = delay + self.access_delay;
                if let Some(i) = halves.iter().position(|h| h.0 < fixed.0) {
                    let key =
                        if self.rtt.is_some() { "rtt".to_owned() } else { format!("rtts[{i}]") };
                    let message = format!(
                        "is {} s, less than twice the delays of access link and bottleneck ({} s); expected at least that",
                        halves[i].seconds() * 2.0,
                        fixed.seconds() * 2.0
                    );
                    return Err(vec![Problem::new(format!("{path}.{key}"), message)]);
                }
                (delay, halves.into_iter().map(|h| h - fixed).collect())
            }
            (None, Some(right)) => (self.delay.unwrap_or_default(), right.clone()),
            (None, None) => {
                (self.delay.unwrap_or(Span::from_millis(10)), vec![self.access_delay; n])
            }
        };

        let access_rate = access_rate(path, self.access_rate, self.rate).map_err(|p| vec![p])?;
        let mut layout = Layout::default();
        let routers = ["r0", "r1"].map(|name| layout.node(name.to_owned()));
        let mut bottleneck = links(self.buffer, &self.qdisc);
        bottleneck.back_qdisc.clone_from(&self.back_qdisc);
        bottleneck.loss = self.loss;
        bottleneck.schedule.clone_from(&self.schedule);
        bottleneck.drop.clone_from(&self.drop);
        bottleneck.back_drop.clone_from(&self.back_drop);
        bottleneck.impairments.clone_from(&self.impairments);
        bottleneck.back_impairments.clone_from(&self.back_impairments);
        let bottleneck = layout.kind(path, bottleneck);
        layout.link(bottleneck, routers, self.rate, delay);
        let access = layout.access_kind(path, self.access_buffer);
        for (i, right) in right.into_iter().enumerate() {
            let (s, d) = (layout.node(format!("s{i}")), layout.node(format!("d{i}")));
            layout.link(access, [s, routers[0]], access_rate, self.access_delay);
            layout.link(access, [routers[1], d], access_rate, right);
            layout.pairs.push((s, d));
        }
        Ok(layout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Net;

    fn net(json: &str) -> Result<Layout, Vec<Problem>> {
        serde_json::from_str::<Net>(json).unwrap().layout("net")
    }

    #[test]
    fn the_round_trip_time_is_the_requested_one() {
        let layout =
            net(r#"{"kind":"dumbbell","pairs":2,"rate":"10 Mbps","rtts":["40 ms","100 ms"]}"#)
                .unwrap();
        // Smallest half 20 ms: bottleneck 18, access 1 + 1; the second pair's right link takes 31.
        assert_eq!(layout.links[0].delay, Span::from_millis(18));
        assert_eq!(layout.links[2].delay, Span::from_millis(1));
        assert_eq!(layout.links[4].delay, Span::from_millis(31));
        let (s, d) = layout.pairs[1];
        assert_eq!((layout.name(s), layout.name(d)), ("s1", "d1"));
    }

    #[test]
    fn the_way_back_has_a_separate_queue_if_requested() {
        let json = r#"{"kind":"dumbbell","pairs":1,"rate":1e6,"qdisc":"red","back_qdisc":"fifo"}"#;
        let bottleneck = net(json).unwrap().kinds.remove(0).spec;
        assert_eq!(
            (bottleneck.qdisc.kind(), bottleneck.back_qdisc.unwrap().kind()),
            ("red", "fifo")
        );
        let both = net(r#"{"kind":"dumbbell","pairs":1,"rate":1e6,"qdisc":"red"}"#).unwrap();
        assert_eq!(both.kinds[0].spec.back_qdisc, None);
    }

    #[test]
    fn contradictions_are_reported() {
        let twice =
            net(r#"{"kind":"dumbbell","pairs":1,"rate":1e6,"rtt":0.1,"right_delays":[0.1]}"#)
                .unwrap_err();
        assert!(twice[0].message.contains("rtt and right_delays"));
        let short = net(r#"{"kind":"dumbbell","pairs":1,"rate":1e6,"rtt":"1 ms","delay":"10 ms"}"#)
            .unwrap_err();
        assert_eq!(short[0].path, "net.rtt");
    }
}
