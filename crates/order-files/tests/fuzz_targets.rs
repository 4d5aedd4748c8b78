//! The fuzz target of order files, with a bounded number of inputs.

extern crate self as libfuzzer_sys;

#[path = "../../../fuzz/bounded.rs"]
mod bounded;
#[path = "../../../fuzz/fuzz_targets/order_file.rs"]
#[allow(unused_attributes, reason = "`no_main` is for the fuzzer")]
mod order_file;

fn valid() -> Vec<Vec<u8>> {
    let all = "account,instrument,side,kind,quantity,quote_amount,price,time_in_force,expire_at,\
               post_only,self_trade,cancel_on_disconnect,capacity,label\r\n\
               1,BTC-USD,buy,limit,0.5,,100.5,gtd,2026-11-30T16:00:00Z,reject,allow,true,agency,a\r\n\
               2,BTC-USD,sell,market,,10,,ioc,,off,,false,,\"b\"\r\n";
    let few = "\u{feff}instrument,side,quantity,price,account\n\nBTC-USD,buy,1,1,2\n";
    vec![all.into(), few.into(), b"instrument,side\n".to_vec()]
}

#[test]
fn order_files_are_refused_or_sound() {
    bounded::check(order_file::target, &valid());
}
