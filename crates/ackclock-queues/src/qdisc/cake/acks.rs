//! ACK filter: acknowledgements that a newer one in the same queue makes needless are dropped.
//!
//! **Source**: CAKE paper, section III.D; tc-cake(8), `ack-filter`; T. Hoiland-Jorgensen, "`sch_cake`: Add optional ACK
//! filter", 2018, the description that came with it into Linux; details as there.
//!
//! **Rule**, when an acknowledgement joins a queue, for the older ones of its flow in it, oldest first:
//! - one is redundant if it acknowledges less: its cumulative number is no larger, each of its SACK blocks lies in one of
//!   the new one's, and one of the two is less. So duplicates stay, and those with DSACK;
//! - conservative: the oldest redundant one is dropped if there is a second, so that it and the new one stay;
//! - aggressive: also if there is no second, but the new one follows it directly and has the same ECN flags;
//! - where ECN flags change from one to the next, what came before the change is not dropped.
//!
//! Connection requests stay. A router cannot read the ACK frames of QUIC.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::{Flags, Packet, SackBlock};

/// Which acknowledgements are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AckFilter {
    /// None.
    #[default]
    Off,
    /// Redundant ones while another redundant one stays.
    Conservative,
    /// All redundant ones.
    Aggressive,
}

/// The place of the acknowledgement that one which has just come makes needless. `waiting` are the packets of its
/// queue with their places, oldest first and it last.
pub(super) fn find_needless<'p>(
    filter: AckFilter,
    waiting: impl Iterator<Item = (u32, &'p Packet)>,
    new: &Packet,
) -> Option<u32> {
    let mut candidate: Option<(u32, u16)> = None;
    let mut is_last = false;
    for (slot, old) in waiting {
        if std::ptr::eq(old, new) {
            break;
        }
        if old.flow != new.flow {
            is_last = false;
            continue;
        }
        if candidate.is_some_and(|(_, flags)| flags != ecn(old)) {
            candidate = None;
        }
        let is_redundant = is_redundant(old, new);
        match candidate {
            Some((first, _)) if is_redundant => return Some(first),
            None if is_redundant => (candidate, is_last) = (Some((slot, ecn(old))), true),
            _ => is_last = false,
        }
    }
    let (slot, flags) = candidate?;
    (filter == AckFilter::Aggressive && is_last && flags == ecn(new)).then_some(slot)
}

/// The flags of ECN: ECE and CWR, or the ACE field.
fn ecn(packet: &Packet) -> u16 {
    (packet.flags.0 & (Flags::ECE | Flags::CWR).0) | (packet.flags.ace() << 8) as u16
}

fn is_redundant(old: &Packet, new: &Packet) -> bool {
    let (olds, news) = (old.sack_blocks(), new.sack_blocks());
    let lies_in_new = |&(from, to): &SackBlock| {
        from >= old.seq && news.iter().any(|&(start, end)| start <= from && to <= end)
    };
    let bytes = |blocks: &[SackBlock]| blocks.iter().map(|b| u64::from(b.1 - b.0)).sum::<u64>();
    old.is_pure_ack()
        && new.is_pure_ack()
        && old.seq <= new.seq
        && olds.iter().all(lies_in_new)
        && (old.seq < new.seq || bytes(olds) < bytes(news))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FlowId;

    fn ack(number: u32, blocks: &[SackBlock]) -> Packet {
        let mut packet = Packet::new(FlowId(0), number, 40, Flags::ACK);
        packet.options.tcp_mut().set_blocks(blocks);
        packet
    }

    fn with(mut packet: Packet, flags: Flags) -> Packet {
        packet.flags.set(flags);
        packet
    }

    /// The place of what is dropped by a conservative and an aggressive filter when the last one comes.
    fn find_dropped(queue: &[Packet]) -> [Option<u32>; 2] {
        let new = queue.last().unwrap();
        [AckFilter::Conservative, AckFilter::Aggressive]
            .map(|filter| find_needless(filter, (0..).zip(queue), new))
    }

    #[test]
    fn one_redundant_acknowledgement_stays_or_none() {
        assert_eq!(find_dropped(&[ack(5, &[])]), [None, None]);
        assert_eq!(find_dropped(&[ack(3, &[]), ack(5, &[])]), [None, Some(0)]);
        assert_eq!(find_dropped(&[ack(1, &[]), ack(3, &[]), ack(5, &[])]), [Some(0), Some(0)]);
    }

    #[test]
    fn duplicates_stay() {
        assert_eq!(find_dropped(&[ack(5, &[]), ack(5, &[]), ack(5, &[])]), [None, None]);
        // Of 3, 5, 5 only the first is redundant, and the new one does not follow it directly.
        assert_eq!(find_dropped(&[ack(3, &[]), ack(5, &[]), ack(5, &[])]), [None, None]);
    }

    #[test]
    fn blocks_count_as_acknowledged_and_are_not_lost() {
        // The same number and a block more.
        assert_eq!(find_dropped(&[ack(5, &[(7, 8)]), ack(5, &[(7, 9)])]), [None, Some(0)]);
        // A block that the new one does not have, and a DSACK.
        assert_eq!(find_dropped(&[ack(5, &[(7, 8)]), ack(5, &[(9, 12)])]), [None, None]);
        assert_eq!(find_dropped(&[ack(5, &[(7, 8)]), ack(9, &[])]), [None, None]);
        assert_eq!(find_dropped(&[ack(5, &[(3, 4)]), ack(6, &[(3, 4)])]), [None, None]);
        assert_eq!(find_dropped(&[ack(9, &[]), ack(5, &[(10, 20)])]), [None, None]);
    }

    #[test]
    fn a_change_of_ecn_flags_is_kept() {
        let echo = |number| with(ack(number, &[]), Flags::ECE);
        assert_eq!(find_dropped(&[ack(1, &[]), echo(3)]), [None, None]);
        assert_eq!(find_dropped(&[ack(1, &[]), echo(3), echo(5)]), [None, Some(1)]);
        assert_eq!(find_dropped(&[ack(1, &[]), echo(3), echo(5), ack(7, &[])]), [Some(1), Some(1)]);
        let mut counts = ack(1, &[]);
        counts.flags.set_ace(3);
        assert_eq!(find_dropped(&[counts, ack(3, &[])]), [None, None]);
    }

    #[test]
    fn what_acknowledges_nothing_stays_and_makes_nothing_needless() {
        for flag in [Flags::NACK, Flags::GRANT] {
            let other = |number| with(ack(number, &[]), flag);
            assert_eq!(find_dropped(&[other(1), other(3), ack(5, &[])]), [None, None]);
            assert_eq!(find_dropped(&[ack(1, &[]), ack(3, &[]), other(5)]), [None, None]);
        }
    }

    #[test]
    fn other_flows_and_connection_requests_are_no_concern() {
        let mut other = ack(1, &[]);
        other.flow = FlowId(1);
        let mut second = ack(2, &[]);
        second.flow = FlowId(1);
        assert_eq!(find_dropped(&[other, second, ack(5, &[])]), [None, None]);
        let request = || with(ack(0, &[]), Flags::SYN);
        assert_eq!(find_dropped(&[request(), ack(3, &[]), ack(5, &[])]), [None, Some(1)]);
        assert_eq!(find_dropped(&[ack(3, &[]), request()]), [None, None]);
    }
}
