//! Columns of tables: their names, what they mean, and how they are filled from rows.

use crate::ids::FlowId;

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Real numbers.
    F64(Vec<f64>),
    /// Counts.
    U64(Vec<u64>),
    /// Indices and small counts.
    U32(Vec<u32>),
    /// Yes or no.
    Bool(Vec<bool>),
    /// Names from a fixed set.
    Text(Vec<&'static str>),
    /// Any names.
    Names(Vec<String>),
}

/// A table: column names and columns of equal length.
pub type Columns = Vec<(&'static str, Column)>;

/// A column's name, which ends in its unit, and what it means.
pub type ColumnDoc = (&'static str, &'static str);

/// What the numbers in rows stand for.
pub trait Names {
    /// A flow.
    fn flow(&self, flow: u32) -> String;
    /// A link.
    fn link(&self, link: u32) -> String;
    /// One of the streams of a flow that has such.
    fn stream(&self, flow: FlowId, stream: u32) -> String;
}

/// A row that knows the columns of its table.
pub trait Columned: Sized {
    /// The columns, in order.
    const COLUMNS: &'static [ColumnDoc];

    /// Fills the columns from rows.
    fn columns<'a>(rows: impl Iterator<Item = &'a Self> + Clone, names: &dyn Names) -> Columns
    where
        Self: 'a;
}

/// Implements [`Columned`] for a type of rows: a line for each column has what it means, its name, its type and its
/// value. The name in parentheses is that of the [`Names`] in the values, or `_`.
#[macro_export]
macro_rules! columns {
    ($row:ty, ($names:pat_param), { $($(#[doc = $doc:literal])+ $name:ident: $kind:ident = $get:expr),+ $(,)? }) => {
        impl $crate::record::Columned for $row {
            const COLUMNS: &'static [$crate::record::ColumnDoc] =
                &[$((stringify!($name), concat!($($doc),+))),+];

            fn columns<'a>(
                rows: impl Iterator<Item = &'a Self> + Clone,
                $names: &dyn $crate::record::Names,
            ) -> $crate::record::Columns
            where
                Self: 'a,
            {
                vec![$((stringify!($name), $crate::record::Column::$kind(rows.clone().map($get).collect()))),+]
            }
        }
    };
}
