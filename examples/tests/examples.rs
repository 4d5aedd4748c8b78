//! Every example runs and prints its expected output.

use std::process::Command;

/// The output of an example, which must succeed.
fn printed(program: &str) -> String {
    let output = Command::new(program).output().expect("the example was built for this test");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} ended with {}: {errors}", output.status);
    String::from_utf8(output.stdout).expect("examples print text")
}

#[test]
fn bus_hello_greets_and_is_heard() {
    assert_eq!(printed(env!("CARGO_BIN_EXE_bus_hello")), "Event: Hello, Ada!\n");
}

#[test]
fn flow_hello_continues_after_a_restart_and_undoes_the_failed_sale() {
    let expected = "\
life 1: seat 12 is reserved for Ada
life 1: seat 13 is reserved for Ben
ticket for Ada, seat 12
life 2: seat 13 is free again
no ticket for Ben: step `ticket` failed: 4 is not the price
";
    assert_eq!(printed(env!("CARGO_BIN_EXE_flow_hello")), expected);
}

#[test]
fn order_system_undoes_what_fails_and_sends_what_succeeds_once() {
    let expected = "\
order 1: ada wants 2 books
  stock: 2 of books reserved
  bank: busy
  bank: ada charged 3000 cents
order 1: confirmed
order 2: bob wants 1 books
  stock: 1 of books reserved
  stock: 1 of books put back
order 2: step `charge` failed: not_enough: bob has 0 cents and needs 1500
order 3: ada wants 100 books
order 3: step `reserve` failed: out_of_stock: 100 of books were requested and 8 are in stock
order 1: ada wants 2 books
order 1: confirmed
messages: 1 to forward
  carrier: takes 2 of books for ada
  carrier: has 2 of books for ada already
in the end: 8 books in stock, 7000 cents with ada, 1 parcel in the van, 0 to forward
";
    assert_eq!(printed(env!("CARGO_BIN_EXE_order_system")), expected);
}

#[test]
fn queue_hello_greets_the_names_of_an_earlier_run() {
    let expected = "\
Ada is on the disk as message 0:1
Ben is on the disk as message 0:2
Hello, Ada!
Hello, Ben!
0 left
";
    assert_eq!(printed(env!("CARGO_BIN_EXE_queue_hello")), expected);
}

#[test]
fn worker_pool_gives_up_what_fails_too_often_and_does_it_once_it_is_mended() {
    let expected = "\
99 done, 17 tried again or given up
dead: 50 (there is no way to the moon)
1 sent back
100 done
0 left
";
    assert_eq!(printed(env!("CARGO_BIN_EXE_worker_pool")), expected);
}

#[test]
fn depot_hello_reads_the_files_of_an_earlier_run() {
    let expected = "\
in/ada.txt is stored: 7 bytes
in/ben.txt is stored: 7 bytes
in/ada.txt says \"ada.txt\"
in/ben.txt says \"ben.txt\"
0 files left
";
    assert_eq!(printed(env!("CARGO_BIN_EXE_depot_hello")), expected);
}

#[test]
fn thumbnails_are_made_once_each_and_a_broken_picture_is_refused() {
    let expected = "\
20 thumbnails of 13060 bytes
pictures/broken.pgm was refused: it is not a picture in the format PGM
";
    assert_eq!(printed(env!("CARGO_BIN_EXE_thumbnails")), expected);
}
