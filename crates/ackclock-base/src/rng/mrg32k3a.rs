//! `MRG32k3a`, the random numbers of ns-2.
//!
//! **Source**: P. L'Ecuyer, "Good Parameters and Implementations for Combined Multiple Recursive Random Number
//! Generators", Operations Research 47(1), 1999, doi:10.1287/opre.47.1.159.
//!
//! **Rule**: `x[n] = (1403580 x[n-2] - 810728 x[n-3]) mod m1`, `y[n] = (527612 y[n-1] - 1370589 y[n-3]) mod m2` with
//! `m1 = 2^32 - 209` and `m2 = 2^32 - 22853`; `U = ((x - y) mod m1) / (m1 + 1)`, where 0 counts as m1.
//!
//! In ns-2 the six first values are the seed, and a uniform number is `floor(2^31 U) / (2^31 - 1)`: all of the first
//! 20,000 that ns-2.35 prints for seed 1 are.

const M1: u64 = 4_294_967_087;
const M2: u64 = 4_294_944_443;
/// 1 / (m1 + 1), as printed.
const NORM: f64 = 2.328_306_549_295_728e-10;

/// The generator, with its three last values of each recurrence.
#[derive(Clone, Debug)]
pub struct Mrg32k3a {
    x: [u64; 3],
    y: [u64; 3],
}

impl Mrg32k3a {
    /// Seeds as ns-2 does; a seed is at least 1 and below 4294944443.
    pub fn new(seed: u32) -> Self {
        Self { x: [u64::from(seed); 3], y: [u64::from(seed); 3] }
    }

    /// U, above 0 and below 1.
    fn next(&mut self) -> f64 {
        let [x3, x2, x1] = self.x;
        let x = (1_403_580 * x2 + 810_728 * (M1 - x3)) % M1;
        self.x = [x2, x1, x];
        let [y3, y2, y1] = self.y;
        let y = (527_612 * y1 + 1_370_589 * (M2 - y3)) % M2;
        self.y = [y2, y1, y];
        let difference = if x > y { x - y } else { x + M1 - y };
        difference as f64 * NORM
    }

    /// Passes over so many numbers, in a time that grows with the digits of `count`: each recurrence is a matrix, of which
    /// the power is taken by squares.
    pub fn skip(&mut self, count: u32) {
        self.x = advance([[0, 1, 0], [0, 0, 1], [M1 - 810_728, 1_403_580, 0]], self.x, count, M1);
        self.y = advance([[0, 1, 0], [0, 0, 1], [M2 - 1_370_589, 0, 527_612]], self.y, count, M2);
    }

    /// A uniform number as ns-2 makes it.
    pub fn uniform(&mut self) -> f64 {
        (self.next() * f64::from(1u32 << 31)).floor() / f64::from(i32::MAX)
    }
}

/// The state that follows `count` steps of a recurrence modulo `m`, of which `step` makes one.
fn advance(mut step: [[u64; 3]; 3], mut state: [u64; 3], mut count: u32, m: u64) -> [u64; 3] {
    let product = |row: [u64; 3], column: [u64; 3]| {
        row.iter().zip(column).fold(0, |sum, (a, b)| (sum + a * b % m) % m)
    };
    while count > 0 {
        if count % 2 == 1 {
            state = step.map(|row| product(row, state));
        }
        let columns = [0, 1, 2].map(|i| step.map(|row| row[i]));
        step = step.map(|row| columns.map(|column| product(row, column)));
        count /= 2;
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_seeds_12345_give_the_published_first_number() {
        assert!((Mrg32k3a::new(12_345).next() - 0.127_011_122_046_577).abs() < 1e-15);
    }

    #[test]
    fn the_first_numbers_are_those_that_ns2_prints() {
        // `$defaultRNG seed S; $defaultRNG uniform 0 1` in ns-2.35.
        for (seed, printed) in [
            (1, [0.000_339_576_974_669_274_4, 0.555_880_715_863_723_7, 0.014_204_660_437_165_137]),
            (2, [0.000_673_882_197_902_483, 0.111_761_432_193_108_56, 0.028_404_048_657_232_92]),
            (77, [0.025_746_757_642_248_066, 0.802_635_885_217_523_2, 0.093_463_626_268_070_02]),
        ] {
            let mut generator = Mrg32k3a::new(seed);
            assert_eq!(printed.map(|_| generator.uniform()), printed);
        }
    }

    #[test]
    fn the_20_000th_number_is_that_of_ns2() {
        let mut generator = Mrg32k3a::new(1);
        let last = (0..20_000).map(|_| generator.uniform()).last();
        assert_eq!(last, Some(0.911_688_641_138_229_8));
    }

    #[test]
    fn numbers_that_are_passed_over_are_those_that_would_have_been_drawn() {
        for count in [0, 1, 2, 3, 7, 64, 19_999] {
            let (mut stepped, mut skipped) = (Mrg32k3a::new(1), Mrg32k3a::new(1));
            (0..count).for_each(|_| _ = stepped.uniform());
            skipped.skip(count);
            assert_eq!(skipped.uniform(), stepped.uniform(), "{count}");
        }
        // As many as there may be pass at once; in two parts they are the same.
        let (mut jumped, mut jumped_less) = (Mrg32k3a::new(77), Mrg32k3a::new(77));
        jumped.skip(1_000_000_000);
        jumped_less.skip(999_999_999);
        jumped_less.uniform();
        assert_eq!(jumped.uniform(), jumped_less.uniform());
    }
}
