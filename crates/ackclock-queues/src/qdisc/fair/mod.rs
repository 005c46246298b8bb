//! Disciplines with a queue for each flow or class.

/// Answers what a discipline answers whose packets are all in one field, a [`classes::Classes`] or a tree of queues.
macro_rules! packets_are_in {
    ($field:tt) => {
        fn len(&self) -> usize {
            self.$field.total()
        }

        fn backlog(&self) -> Bytes {
            self.$field.backlog()
        }

        fn timer_interval(&self) -> Option<Span> {
            self.$field.timer_interval()
        }

        fn on_timer(&mut self, ctx: &mut QdiscCtx<'_>) {
            self.$field.on_timer(ctx.now);
        }
    };
}

pub mod classes;
pub mod drr;
pub(crate) mod flow_queues;
pub mod fq;
pub mod fq_codel;
pub mod fq_pie;
pub(crate) mod gps;
pub(crate) mod hierarchy;
pub mod hpfq;
pub(crate) mod longest;
pub(crate) mod numbering;
pub mod priority;
#[cfg(test)]
pub(crate) mod reference;
pub mod sfq;
pub(crate) mod tournament;
pub mod wf2q_plus;
pub mod wrr;
