//! The comparison of numbers in unit tests.

/// Asserts that two numbers agree to so many digits behind the point, or to so many digits in all where
/// the expected one is larger than 1.
///
/// # Panics
/// They do not agree.
#[track_caller]
pub fn near<const DIGITS: i32>(got: f64, expected: f64) {
    let most = 0.1_f64.powi(DIGITS) * expected.abs().max(1.0);
    assert!((got - expected).abs() <= most, "{got} is not {expected}");
}

#[test]
fn the_tolerance_is_absolute_below_one_and_relative_above() {
    near::<3>(0.0009, 0.0);
    near::<3>(1000.9, 1000.0);
    let differs = |got, expected| std::panic::catch_unwind(|| near::<3>(got, expected)).is_err();
    assert!(differs(0.0011, 0.0) && differs(1001.1, 1000.0) && differs(f64::NAN, 0.0));
}
