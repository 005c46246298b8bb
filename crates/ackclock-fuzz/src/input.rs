//! Choices from bytes. When the bytes are used up every choice is the first.

use arbitrary::Unstructured;

/// Bytes that are used up choice by choice.
pub(crate) struct Input<'a>(Unstructured<'a>);

impl<'a> Input<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self(Unstructured::new(data))
    }

    pub(crate) fn is_used_up(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or(0)
    }

    pub(crate) fn word(&mut self) -> u32 {
        self.0.arbitrary().unwrap_or(0)
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// True once in `n`, and not when the bytes are used up.
    pub(crate) fn one_in(&mut self, n: u8) -> bool {
        self.byte() % n == n - 1
    }

    /// A number below `n`, at least 1.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let drawn_number = if n <= 256 { usize::from(self.byte()) } else { self.word() as usize };
        drawn_number % n
    }

    pub(crate) fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }

    /// A number from 0 to 1, both possible.
    pub(crate) fn share(&mut self) -> f64 {
        f64::from(self.byte()) / 255.0
    }
}
