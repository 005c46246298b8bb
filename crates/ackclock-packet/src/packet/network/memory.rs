//! The memory of a switch: what waits there by the link over which it came, what that pauses, what is refused.
//!
//! Lossless classes are limited where they come in. With S the memory that is shared, Q what of it is used, and
//! T = X-OFF, or alpha (S - Q) without a fixed X-OFF, a packet of ingress i and class c
//!
//! ```text
//! total(i, c) + size <= T and Q + size <= S   goes to the shared memory
//! headroom(i, c) + size <= H                  goes to the headroom: i is paused for c
//! else                                        is dropped
//! ```
//!
//! and i resumes when its headroom is empty and total(i, c) <= X-ON, or T - 2 M without a fixed one, with M the largest
//! packet. Other classes are limited where they go out: a packet is taken if its queue is shorter than alpha (S - Q)
//! (Choudhury & Hahne 1998, doi:10.1109/90.664262) and Q + size <= S.

use crate::compile::PlanSwitches;

/// What waits of an ingress and class.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Held {
    pub(crate) shared: u64,
    pub(crate) headroom: u64,
    /// The most of the two together, and of the second.
    pub(crate) most: u64,
    pub(crate) most_headroom: u64,
    /// Packets refused for lack of headroom.
    pub(crate) drops: u64,
}

impl Held {
    pub(crate) fn total(&self) -> u64 {
        self.shared + self.headroom
    }
}

/// A link that leads to a switch.
#[derive(Clone, Debug)]
pub(crate) struct Ingress {
    /// The link, and that of the other direction, over which pause frames go.
    pub(crate) link: u32,
    pub(crate) back: u32,
    /// Position in the route table of the way of pause frames.
    pub(crate) route: u32,
    /// Headroom of each class.
    pub(crate) headroom: u64,
    /// By class.
    pub(crate) held: Vec<Held>,
    /// Bits of the classes that should be paused, and of those that the last frame paused.
    pub(crate) paused: u32,
    pub(crate) announced: u32,
    /// Frames sent.
    pub(crate) frames: u64,
}

/// The memory of one switch.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    pub(crate) node: u32,
    /// The process that the switch belongs to.
    pub(crate) process: u32,
    /// What is shared, without the headrooms; `u64::MAX`: no limit.
    shared: u64,
    used: u64,
    pub(crate) most_used: u64,
    alpha: f64,
    xoff: Option<u64>,
    xon: Option<u64>,
    /// Two of the largest packets.
    margin: u64,
    /// Bits of the lossless classes.
    pub(crate) lossless: u32,
    pub(crate) classes: usize,
    pub(crate) ingress: Vec<Ingress>,
    /// Links that leave the switch.
    pub(crate) egress: Vec<u32>,
    /// Bytes by ingress, egress and class; those that came over no link are last.
    by_way: Vec<u64>,
    /// Bytes by egress and class.
    queues: Vec<u64>,
}

/// Where a packet waits in a switch: by which link it came, if it did, by which it goes, and its class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) ingress: Option<usize>,
    pub(crate) egress: usize,
    pub(crate) class: usize,
}

impl Memory {
    /// The empty memory of a switch; `shared` without headrooms.
    pub(crate) fn new(plan: &PlanSwitches, node: u32, shared: u64, lossless: u32) -> Self {
        let pfc = plan.pfc.as_ref();
        Self {
            node,
            process: u32::MAX,
            shared,
            used: 0,
            most_used: 0,
            alpha: plan.alpha,
            xoff: pfc.and_then(|pfc| pfc.xoff),
            xon: pfc.and_then(|pfc| pfc.xon),
            margin: 2 * u64::from(plan.largest),
            lossless,
            classes: 1,
            ingress: Vec::new(),
            egress: Vec::new(),
            by_way: Vec::new(),
            queues: Vec::new(),
        }
    }

    /// Sets its ports, with so many classes each.
    pub(crate) fn set_ports(&mut self, ingress: Vec<Ingress>, egress: Vec<u32>, classes: usize) {
        self.classes = classes;
        self.by_way = vec![0; (ingress.len() + 1) * egress.len() * classes];
        self.queues = vec![0; egress.len() * classes];
        (self.ingress, self.egress) = (ingress, egress);
    }

    fn is_lossless(&self, class: usize) -> bool {
        self.lossless >> class & 1 != 0
    }

    /// What a queue may hold when `used` is used.
    fn dynamic(&self, used: u64) -> u64 {
        if self.shared == u64::MAX {
            return u64::MAX;
        }
        (self.alpha * self.shared.saturating_sub(used) as f64) as u64
    }

    /// X-OFF when `used` is used.
    fn xoff(&self, used: u64) -> u64 {
        self.xoff.unwrap_or_else(|| self.dynamic(used))
    }

    /// X-ON when `used` is used.
    pub(crate) fn xon(&self, used: u64) -> u64 {
        self.xon.unwrap_or_else(|| self.xoff(used).saturating_sub(self.margin))
    }

    fn place(&self, way: Way) -> usize {
        let ingress = way.ingress.unwrap_or(self.ingress.len());
        (ingress * self.egress.len() + way.egress) * self.classes + way.class
    }

    /// Bytes that wait of an ingress for an egress.
    pub(crate) fn waiting(&self, ingress: usize, egress: usize, class: usize) -> u64 {
        self.by_way[self.place(Way { ingress: Some(ingress), egress, class })]
    }

    /// A packet of `size` arrives; returns whether there is room. It may pause its ingress.
    pub(crate) fn take(&mut self, way: Way, size: u16) -> bool {
        let size = u64::from(size);
        let has_room = self.used.saturating_add(size) <= self.shared;
        let queue = way.egress * self.classes + way.class;
        if let Some(i) = way.ingress.filter(|_| self.is_lossless(way.class)) {
            let xoff = self.xoff(self.used);
            let ingress = &mut self.ingress[i];
            let occupancy = &mut ingress.held[way.class];
            if has_room && occupancy.total() + size <= xoff {
                occupancy.shared += size;
                self.used += size;
            } else if occupancy.headroom + size <= ingress.headroom {
                occupancy.headroom += size;
                occupancy.most_headroom = occupancy.most_headroom.max(occupancy.headroom);
                ingress.paused |= 1 << way.class;
            } else {
                occupancy.drops += 1;
                ingress.paused |= 1 << way.class;
                return false;
            }
            occupancy.most = occupancy.most.max(occupancy.total());
        } else {
            let is_short =
                self.is_lossless(way.class) || self.queues[queue] < self.dynamic(self.used);
            if !has_room || !is_short {
                return false;
            }
            self.used += size;
        }
        self.most_used = self.most_used.max(self.used);
        self.queues[queue] += size;
        let index = self.place(way);
        self.by_way[index] += size;
        true
    }

    /// A packet that was taken leaves; its ingress may resume.
    pub(crate) fn free(&mut self, way: Way, size: u16) {
        let size = u64::from(size);
        let index = self.place(way);
        self.by_way[index] -= size;
        self.queues[way.egress * self.classes + way.class] -= size;
        let Some(i) = way.ingress.filter(|_| self.is_lossless(way.class)) else {
            self.used -= size;
            return;
        };
        let occupancy = &mut self.ingress[i].held[way.class];
        let of_headroom = size.min(occupancy.headroom);
        occupancy.headroom -= of_headroom;
        occupancy.shared -= size - of_headroom;
        self.used -= size - of_headroom;
        let (total, is_empty) = (occupancy.total(), occupancy.headroom == 0);
        if is_empty && (total == 0 || total <= self.xon(self.used)) {
            self.ingress[i].paused &= !(1 << way.class);
        }
    }

    /// Whether nothing is counted that is not there.
    ///
    /// # Errors
    /// The counts that disagree.
    pub(crate) fn check(&self) -> Result<(), String> {
        let by_way: u64 = self.by_way.iter().sum();
        let queues: u64 = self.queues.iter().sum();
        let headroom: u64 = self.ingress.iter().flat_map(|i| &i.held).map(|h| h.headroom).sum();
        if by_way != queues || queues != self.used + headroom || self.used > self.shared {
            return Err(format!(
                "{by_way} B wait by way, {queues} B by queue, {} B in the memory of {} B and {headroom} B in headroom",
                self.used, self.shared
            ));
        }
        Ok(())
    }

    /// Bytes that wait.
    pub(crate) fn backlog(&self) -> u64 {
        self.queues.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::compile::PlanPfc;
    use crate::units::Span;

    fn switches(pfc: Option<PlanPfc>, alpha: f64) -> PlanSwitches {
        PlanSwitches {
            memory: None,
            alpha,
            pfc,
            is_switch: Vec::new(),
            largest: 1000,
            headroom: Vec::new(),
            needed: Vec::new(),
        }
    }

    fn ingress(link: u32, headroom: u64, classes: usize) -> Ingress {
        Ingress {
            link,
            back: link,
            route: 0,
            headroom,
            held: vec![Held::default(); classes],
            paused: 0,
            announced: 0,
            frames: 0,
        }
    }

    fn way(ingress: usize, egress: usize) -> Way {
        Way { ingress: Some(ingress), egress, class: 0 }
    }

    /// Choudhury & Hahne 1998, section III: m queues that are overloaded get alpha B / (1 + m alpha) each, and
    /// B / (1 + m alpha) stays free.
    #[test]
    fn overloaded_queues_share_the_memory_as_published() {
        for (alpha, overloaded) in [(1.0, 1), (1.0, 3), (2.0, 2), (0.5, 4)] {
            let mut memory = Memory::new(&switches(None, alpha), 0, 600_000, 0);
            memory.set_ports(vec![ingress(0, 0, 1)], (0..8).collect(), 1);
            for _ in 0..8000 {
                for egress in 0..overloaded {
                    memory.take(way(0, egress), 100);
                }
            }
            let expected = alpha * 600_000.0 / (1.0 + alpha * overloaded as f64);
            for queue in &memory.queues[..overloaded] {
                assert!((*queue as f64 - expected).abs() <= 200.0, "{queue}, expected {expected}");
            }
            // A queue that is empty still gets room.
            assert!(memory.take(way(0, 7), 1000));
            memory.check().unwrap();
        }
    }

    /// Zhu et al. 2015 (DCQCN), section 4: a switch of 12 MB with 32 ports and 8 classes that reserves 22.4 kB for each of
    /// them has 24.47 kB for each before it must pause, if all are full.
    #[test]
    fn what_headrooms_leave_is_what_the_paper_of_dcqcn_computes() {
        let (ports, classes, headroom) = (32u64, 8, 22_400);
        let shared = 12_000_000 - ports * classes * headroom;
        let pfc = PlanPfc {
            lossless: None,
            xoff: None,
            xon: None,
            headroom: Some(headroom),
            response: Span(0),
            storm: (0.5, Span(0)),
        };
        let mut memory = Memory::new(&switches(Some(pfc), 1e4), 0, shared, 0xff);
        let ingresses = (0..ports as u32).map(|i| ingress(i, headroom, classes as usize));
        memory.set_ports(ingresses.collect(), (100..132).collect(), classes as usize);
        while memory.ingress.iter().any(|ingress| ingress.paused != 0xff) {
            for i in 0..ports as usize {
                for class in 0..classes as usize {
                    if memory.ingress[i].paused >> class & 1 == 0 {
                        let way = Way { ingress: Some(i), egress: (i + 1) % 32, class };
                        assert!(memory.take(way, 100));
                    }
                }
            }
        }
        for occupancy in memory.ingress.iter().flat_map(|ingress| &ingress.held) {
            assert!((occupancy.shared as f64 - 24_470.0).abs() <= 150.0, "{occupancy:?}");
        }
        memory.check().unwrap();
    }

    #[test]
    fn pause_and_resume_by_hand() {
        let pfc = PlanPfc {
            lossless: None,
            xoff: Some(3000),
            xon: None,
            headroom: None,
            response: Span(0),
            storm: (0.5, Span(0)),
        };
        let mut memory = Memory::new(&switches(Some(pfc), 1.0), 0, u64::MAX, u32::MAX);
        memory.set_ports(vec![ingress(0, 2000, 1), ingress(1, 2000, 1)], vec![2, 3], 1);
        let paused = |memory: &Memory| [0, 1].map(|i| memory.ingress[i].paused);
        for _ in 0..3 {
            assert!(memory.take(way(0, 0), 1000));
        }
        assert_eq!(paused(&memory), [0, 0]);
        // 4000 B are above X-OFF: into the headroom of 2000 B, in which two more do not fit.
        assert!(memory.take(way(0, 1), 1000) && memory.take(way(0, 0), 1000));
        assert_eq!(paused(&memory), [1, 0]);
        assert!(!memory.take(way(0, 0), 1000));
        // The other link is not concerned.
        assert!(memory.take(way(1, 0), 1000));
        // X-ON is 3000 - 2 x 1000.
        for (left, expected) in [(4000, 1), (3000, 1), (2000, 1), (1000, 0)] {
            memory.free(way(0, 0), 1000);
            assert_eq!(
                (memory.ingress[0].held[0].total(), memory.ingress[0].paused),
                (left, expected)
            );
        }
        assert_eq!(memory.ingress[0].held[0].most, 5000);
        assert_eq!(memory.ingress[0].held[0].drops, 1);
        memory.check().unwrap();
    }

    /// Of 10,000 B another link leaves half, then all: X-ON rises with what is free, but a link whose packets still wait in its
    /// headroom stays paused.
    #[test]
    fn a_link_resumes_when_its_headroom_is_empty_whatever_is_free_by_then() {
        let pfc = PlanPfc {
            lossless: None,
            xoff: None,
            xon: None,
            headroom: None,
            response: Span(0),
            storm: (0.5, Span(0)),
        };
        let mut memory = Memory::new(&switches(Some(pfc), 1.0), 0, 10_000, u32::MAX);
        memory.set_ports(vec![ingress(0, 2000, 1), ingress(1, 2000, 1)], vec![2, 3], 1);
        for _ in 0..5 {
            assert!(memory.take(way(1, 0), 1000));
        }
        // X-OFF is what is free: 5000, 4000 and 3000 B; the fourth and fifth go to the headroom.
        for paused in [0, 0, 0, 1, 1] {
            assert!(memory.take(way(0, 1), 1000));
            assert_eq!(memory.ingress[0].paused, paused);
        }
        (0..5).for_each(|_| memory.free(way(1, 0), 1000));
        // X-OFF is 7000 B now, X-ON 5000 B; 4000 B of the link wait, 1000 B of them in its headroom.
        memory.free(way(0, 1), 1000);
        assert_eq!((memory.ingress[0].held[0].headroom, memory.ingress[0].paused), (1000, 1));
        memory.free(way(0, 1), 1000);
        assert_eq!((memory.ingress[0].held[0].headroom, memory.ingress[0].paused), (0, 0));
        memory.check().unwrap();
    }

    proptest! {
        #[test]
        fn bytes_are_counted_once_whatever_comes_and_goes(
            alpha in 0.1f64..4.0,
            lossless in 0u32..4,
            xoff in prop::option::of(500u64..20_000),
            moves in prop::collection::vec((0usize..4, 0usize..2, 0usize..2, 1u16..1000, any::<bool>()), 1..300),
        ) {
            let pfc = PlanPfc { lossless: None, xoff, xon: None, headroom: None, response: Span(0), storm: (0.5, Span(0)) };
            let mut memory = Memory::new(&switches(Some(pfc), alpha), 0, 30_000, lossless);
            memory.set_ports((0..3).map(|i| ingress(i, 3000, 2)).collect(), vec![3, 4], 2);
            let mut waiting = Vec::new();
            for (from, egress, class, size, leaves) in moves {
                if leaves && !waiting.is_empty() {
                    let (way, size) = waiting.remove(from % waiting.len());
                    memory.free(way, size);
                } else {
                    let way = Way { ingress: (from < 3).then_some(from), egress, class };
                    if memory.take(way, size) {
                        waiting.push((way, size));
                    }
                }
                memory.check().unwrap();
                let sum: u64 = waiting.iter().map(|of| u64::from(of.1)).sum();
                prop_assert_eq!(memory.backlog(), sum);
                for ingress in &memory.ingress {
                    prop_assert!(ingress.held.iter().all(|held| held.headroom <= 3000));
                    // Nothing that waits is paused for ever.
                    for (class, held) in ingress.held.iter().enumerate() {
                        prop_assert!(held.total() > 0 || ingress.paused >> class & 1 == 0 || held.drops > 0);
                    }
                }
            }
            for (way, size) in waiting.drain(..) {
                memory.free(way, size);
            }
            prop_assert_eq!(memory.used, 0);
        }
    }
}
