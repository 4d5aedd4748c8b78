//! Every example runs and says what it is there to say.

use std::process::Command;

/// What an example prints, given that it ends well.
fn printed(program: &str) -> String {
    let output = Command::new(program).output().expect("the example was built for this test");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} ended with {}: {errors}", output.status);
    String::from_utf8(output.stdout).expect("examples print text")
}

#[test]
fn bus_hello_greets_and_is_heard() {
    assert_eq!(printed(env!("CARGO_BIN_EXE_bus_hello")), "Somebody said: Hello, Ada!\n");
}

#[test]
fn flow_hello_goes_on_after_a_restart_and_undoes_what_failed() {
    let expected = "\
life 1: seat 12 is reserved for Ada
life 1: seat 13 is reserved for Ben
ticket for Ada, seat 12
life 2: seat 13 is free again
no ticket for Ben: step `ticket` failed: 4 is not the price
";
    assert_eq!(printed(env!("CARGO_BIN_EXE_flow_hello")), expected);
}
