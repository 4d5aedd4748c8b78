//! The reference asks in the order that the rules page promises, which is the page's own list.

#[allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]
mod reference;

/// The checks of a command as `rules` lists them under "Refusals".
fn documented(command: &str) -> Vec<String> {
    let page = include_str!("../src/rules.rs");
    let begin = format!("//! - *{command}*: ");
    let (_, rest) = page.split_once(&begin).expect("the page lists the checks of the command");
    let (list, _) = rest.split_once('.').expect("the list ends with a full stop");
    let line = list.replace("\n//!", "");
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    words.split("; ").map(str::to_owned).collect()
}

#[test]
fn an_order_is_checked_in_the_documented_order() {
    assert_eq!(documented("Place"), reference::entry::place_checks());
}

#[test]
fn an_order_that_waits_is_checked_in_the_documented_order() {
    assert_eq!(documented("PlaceConditional"), reference::conditional::conditional_checks());
}

#[test]
fn an_iceberg_is_checked_in_the_documented_order() {
    let mut documented = documented("PlaceIceberg");
    assert_eq!(documented.pop().as_deref(), Some("and then as *Place*"));
    assert_eq!(documented, reference::iceberg::iceberg_checks());
}

#[test]
fn linked_orders_are_checked_in_the_documented_order() {
    assert_eq!(documented("PlaceList"), reference::linked::list_checks());
}

#[test]
fn an_amendment_is_checked_in_the_documented_order() {
    assert_eq!(documented("Amend"), reference::amend::amend_checks());
    let mut documented = documented("AmendTrigger");
    assert_eq!(documented.pop().as_deref(), Some("and then as *Amend*"));
    assert_eq!(documented, reference::amend::amend_trigger_checks());
}

#[test]
fn transfers_are_checked_in_the_documented_order() {
    assert_eq!(documented("Deposit"), reference::transfer::deposit_checks());
    assert_eq!(documented("Withdraw"), reference::transfer::withdraw_checks());
    let held = documented("HoldWithdrawal");
    assert_eq!(held[0], "the same up to repeat or conflict");
    assert_eq!(held[1..], reference::transfer::hold_checks());
}

#[test]
fn a_restriction_is_checked_in_the_documented_order() {
    assert_eq!(documented("Restrict"), reference::restriction::restrict_checks());
}

#[test]
fn created_objects_are_checked_in_the_documented_order() {
    let documented = documented("Create…");
    for checks in reference::listing::create_checks() {
        let mut rest = documented.iter();
        for check in checks {
            assert!(rest.any(|name| name == check), "{check} is not next in {documented:?}");
        }
    }
}
