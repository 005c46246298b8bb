//! The least of eight: one match of a tournament.

/// The least of the keys of eight places and its place, the first of several: in pairs, so that no
/// decision waits for more than two others.
#[inline(always)]
pub(crate) fn least(key: impl Fn(usize) -> u64) -> (u64, usize) {
    let of = |place| (key(place), place);
    let better = |a: (u64, usize), b: (u64, usize)| if b.0 < a.0 { b } else { a };
    better(
        better(better(of(0), of(1)), better(of(2), of(3))),
        better(better(of(4), of(5)), better(of(6), of(7))),
    )
}
