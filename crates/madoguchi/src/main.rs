//! Starts the program. Everything else is in `lib.rs`, so that the tests' own
//! dependency on this package can switch the feature `fixture` on.

use std::process::ExitCode;

fn main() -> ExitCode {
    madoguchi::main()
}
