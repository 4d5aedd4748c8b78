//! Who sent a command, and why: told by the first event, and kept nowhere.

use crate::venue::{SPOT, rules, spec};
use rialto_core::{Core, CoreConfig};
use rialto_model::{
    Attributed, Attribution, Command, CommandKind, CurrencyCode, EngineId, Event, InstrumentState,
    Outcome, RejectReason, Scale, Seq, Timestamp,
};

fn attribution() -> Attribution {
    Attribution { by: "rk_7".parse().unwrap(), reason: "ticket 31".parse().unwrap() }
}

/// A core with an instrument.
fn core(rules_version: u32) -> Core {
    let mut core = Core::new(CoreConfig { rules_version, ..CoreConfig::new(EngineId(1)) });
    let currency = |code: &str| {
        let code: CurrencyCode = code.parse().unwrap();
        Command::CreateCurrency { code, scale: Scale::new(2).unwrap() }
    };
    let commands = [currency("A"), currency("B"), Command::CreateInstrument(spec("SPOT", rules()))];
    for command in commands {
        let outcome = core.apply(core.seq().next(), Timestamp(1), &command, &mut Vec::new());
        assert!(!outcome.is_rejected(), "{outcome:?}");
    }
    core
}

fn apply(core: &mut Core, command: &Command) -> (Vec<Event>, Outcome) {
    let (mut events, seq) = (Vec::new(), core.seq().next());
    let by = attribution();
    let outcome = core.apply_attributed(seq, Timestamp(1), command, Some(&by), &mut events);
    (events, outcome)
}

fn attributed(command: CommandKind) -> Event {
    Event::Attributed(Attributed { command, attribution: attribution() })
}

#[test]
fn the_first_event_says_who_sent_a_command_and_the_state_does_not() {
    let halt = Command::SetInstrumentState { instrument: SPOT, state: InstrumentState::Halted };
    let (mut core, mut plain) = (core(4), core(4));
    let (events, outcome) = apply(&mut core, &halt);
    let mut expected = vec![attributed(CommandKind::SetInstrumentState)];
    assert_eq!(plain.apply(Seq(4), Timestamp(1), &halt, &mut expected), outcome);
    assert_eq!(events, expected);
    assert_eq!(core.state_hash(), plain.state_hash());
    assert_eq!(core.snapshot(), plain.snapshot());
}

#[test]
fn a_refused_command_says_it_too() {
    let again = Command::CreateInstrument(spec("SPOT", rules()));
    let (events, outcome) = apply(&mut core(4), &again);
    let reason = RejectReason::AlreadyExists;
    assert_eq!(outcome, Outcome::Rejected { reason });
    assert_eq!(events[0], attributed(CommandKind::CreateInstrument));
    assert!(matches!(events[1], Event::Rejected(refused) if refused.reason == reason));
}

#[test]
fn older_rules_say_nothing() {
    for version in 1..=3 {
        let mut core = core(version);
        assert!(!core.knows_attributions());
        let (events, _) = apply(&mut core, &Command::SetRulesVersion { version: 4 });
        assert_eq!(events, [Event::RulesVersionSet { version: 4 }]);
        assert!(core.knows_attributions());
    }
}
