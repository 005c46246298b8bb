//! The one list of what can be recorded. A table of events is a line here and a type of rows in `rows.rs`; whatever records
//! it calls [`Recorder::note`](super::Recorder::note).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::column::{ColumnDoc, Columned, Columns, Names};
use super::rows::{
    DropRow, FrameRow, LayersRow, PacketRow, ProbeRow, Row, RttRow, StateRow, WindowRow,
};
use crate::units::Time;

/// How many rows a table is predicted to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimate {
    /// So many for each packet that a sender sends.
    PerPacket(f64),
    /// So many for each packet at each link.
    PerHop(f64),
    /// One for each flow and interval.
    PerFlowSample,
    /// One for each link and interval.
    PerLinkSample,
    /// So few that they are not counted.
    Few,
}

/// A line for each table: what it is, its names in code and in files, the type of its rows if it is recorded event by
/// event, how many rows it is predicted to have.
macro_rules! tables {
    (
        events { $($(#[doc = $doc:literal])+ $event:ident $name:ident: $row:ty, $estimate:expr;)+ }
        others { $($(#[doc = $other_doc:literal])+ $other:ident $other_name:ident, $other_estimate:expr;)+ }
    ) => {
        /// A recorded table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Table {
            $($(#[doc = $doc])+ $event,)+
            $($(#[doc = $other_doc])+ $other,)+
        }

        impl Table {
            /// All tables, in order.
            pub const ALL: &'static [Self] = &[$(Self::$event,)+ $(Self::$other,)+];

            /// Its name in files.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$event => stringify!($name),)+
                    $(Self::$other => stringify!($other_name),)+
                }
            }

            /// What it is.
            pub fn doc(self) -> &'static str {
                match self {
                    $(Self::$event => concat!($($doc),+),)+
                    $(Self::$other => concat!($($other_doc),+),)+
                }
                .trim_ascii()
            }

            /// How many rows it is predicted to have.
            pub fn estimate(self) -> Estimate {
                match self {
                    $(Self::$event => $estimate,)+
                    $(Self::$other => $other_estimate,)+
                }
            }

            /// Which of the tables it is that are not recorded event by event.
            pub fn other(self) -> Option<OtherTable> {
                match self {
                    $(Self::$event)|+ => None,
                    $(Self::$other => Some(OtherTable::$other),)+
                }
            }

            /// The columns of a table of events; of another, none.
            pub fn event_columns(self) -> &'static [ColumnDoc] {
                match self {
                    $(Self::$event => <$row>::COLUMNS,)+
                    $(Self::$other)|+ => &[],
                }
            }
        }

        /// A table that is not recorded event by event, but sampled or computed from others.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum OtherTable {
            $($(#[doc = $other_doc])+ $other,)+
        }

        /// Which tables are recorded event by event.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Requested {
            $($(#[doc = $doc])+ pub $name: bool,)+
        }

        impl Requested {
            /// What these tables need.
            pub fn by(tables: &[Table]) -> Self {
                let mut requested = Self { $($name: tables.contains(&Table::$event),)+ };
                requested.packets = tables.iter().any(|table| table.is_of_packets());
                requested
            }
        }

        /// The rows of all tables of events.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct EventTables {
            $($(#[doc = $doc])+ pub $name: Vec<$row>,)+
        }

        impl EventTables {
            /// Rows of all tables together.
            pub fn rows(&self) -> usize {
                [$(self.$name.len()),+].iter().sum()
            }

            /// Appends the rows of others.
            pub fn append(&mut self, other: &mut Self) {
                $(self.$name.append(&mut other.$name);)+
            }

            /// Takes the rows before `end`, in order of time, and leaves the others.
            #[must_use]
            pub fn take_before(&mut self, end: Time) -> Self {
                Self { $($name: take_before(&mut self.$name, end),)+ }
            }

            /// The name of each table with rows, and the time of its first.
            pub fn first_times(&self) -> impl Iterator<Item = (&'static str, Time)> {
                let times = [$((stringify!($name), self.$name.first().map(Row::time))),+];
                times.into_iter().filter_map(|(name, time)| time.map(|time| (name, time)))
            }

            /// The columns of a table of events; of another, none.
            pub fn columns(&self, table: Table, names: &dyn Names) -> Columns {
                match table {
                    $(Table::$event => <$row>::columns(self.$name.iter(), names),)+
                    $(Table::$other)|+ => Columns::new(),
                }
            }
        }

        $(impl EventRow for $row {
            fn is_requested(requested: Requested) -> bool {
                requested.$name
            }

            fn table(tables: &mut EventTables) -> &mut Vec<Self> {
                &mut tables.$name
            }
        })+
    };
}

tables! {
    events {
        /// cwnd, ssthresh, in flight after every acknowledgement and timeout.
        Windows windows: WindowRow, Estimate::PerPacket(1.0);
        /// Every round-trip sample.
        Rtts rtts: RttRow, Estimate::PerPacket(1.0);
        /// Every change of a sender's state.
        States states: StateRow, Estimate::Few;
        /// Every dropped packet with its reason.
        Drops drops: DropRow, Estimate::Few;
        /// Every arrival at and departure from every queue.
        Packets packets: PacketRow, Estimate::PerHop(2.0);
        /// Every change of the layers that a receiver of a multicast group holds.
        Layers layers: LayersRow, Estimate::Few;
        /// Every frame of a flow with `streams` that is delivered.
        Frames frames: FrameRow, Estimate::Few;
        /// Every change of the inner state of every control, variable by variable.
        ProbeSeries probe_series: ProbeRow, Estimate::PerPacket(PROBES_PER_ACK);
    }
    others {
        /// Every change of what waits in every queue.
        Queues queues, Estimate::PerHop(2.0);
        /// Every flow at an interval.
        FlowSamples flow_samples, Estimate::PerFlowSample;
        /// Every link at an interval.
        LinkSamples link_samples, Estimate::PerLinkSample;
        /// Inner state of every control at the end of the run.
        Probes probes, Estimate::Few;
        /// What became of the bytes that every link sent, and whose packets held the buffers that lost them.
        Ledger ledger, Estimate::PerHop(2.0);
    }
}

/// Variables of a control that change with an acknowledgement, about.
const PROBES_PER_ACK: f64 = 4.0;

/// A row of a table of events.
pub trait EventRow: Row {
    /// Whether its table is requested.
    fn is_requested(requested: Requested) -> bool;

    /// The rows of its table.
    fn table(tables: &mut EventTables) -> &mut Vec<Self>;
}

impl Table {
    /// Whether it is made from the events of packets at links.
    pub fn is_of_packets(self) -> bool {
        matches!(self, Self::Packets | Self::Queues | Self::Ledger)
    }

    /// Whether it is known at the end of the run only.
    pub fn is_of_end(self) -> bool {
        matches!(self, Self::Probes | Self::Ledger)
    }
}

impl Requested {
    /// Whether a sender's control is looked at after each call.
    #[inline]
    pub fn controls(self) -> bool {
        self.states | self.probe_series
    }
}

/// Takes the rows before `end`, in order of time, and leaves the others as they are.
fn take_before<R: Row>(rows: &mut Vec<R>, end: Time) -> Vec<R> {
    // At the end of a run, these are all: none is copied.
    let mut taken = if rows.iter().all(|row| row.time() < end) {
        std::mem::take(rows)
    } else {
        let (before, after) = std::mem::take(rows).into_iter().partition(|row| row.time() < end);
        *rows = after;
        before
    };
    taken.sort_by_key(|row| (row.time(), row.rank()));
    taken
}
