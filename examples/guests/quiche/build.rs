//! Calls of BoringSSL's `RAND_bytes` go to the program's own (`src/random.rs`).

fn main() {
    println!("cargo::rustc-link-arg-bins=-Wl,--wrap=RAND_bytes");
    println!("cargo::rerun-if-changed=build.rs");
}
