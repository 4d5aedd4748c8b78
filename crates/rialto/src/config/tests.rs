//! Tests of the table of settings.

use super::*;
use rialto_core::CALENDARS_MAX;

/// A value that the setting may have and that is not its default.
fn another(setting: &Setting, config: &mut Config) {
    match &setting.kind {
        Kind::Number { min, max, get, set, .. } => {
            set(config, if get(config) == *min { *max } else { *min });
        }
        Kind::Switch { get, set } => set(config, !get(config)),
        Kind::Level { set, .. } => set(config, rialto_engine::Level::Memory),
        Kind::Word { words, set, .. } => {
            let second = words.split('"').nth(3).expect("there is more than one word");
            set(config, second).unwrap_or_else(|why| panic!("{}: {why}", setting.key));
        }
        Kind::Address { set, .. } => set(config, ([127, 0, 0, 2], 9).into()),
        Kind::OptionalAddress { set, .. } => set(config, Some(([127, 0, 0, 2], 9).into())),
        Kind::Networks { set, .. } => {
            set(config, ["10.1.0.0/16", "::1/128"].map(|text| text.parse().unwrap()).to_vec());
        }
        Kind::Paths { set, .. } => set(config, vec!["/srv/in".into(), "/a \"b\"".into()]),
        Kind::Path { set, .. } => set(config, "else/where \"quoted\"".into()),
        Kind::OptionalPath { set, .. } => set(config, Some("back/ups".into())),
    }
}

fn told(config: &Config) -> String {
    format!("{config:?}")
}

fn refused(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

#[test]
fn the_printed_configuration_parses_to_the_defaults() {
    let printed = print(&Config::default());
    assert_eq!(told(&parse(&printed).unwrap()), told(&Config::default()));
    assert_eq!(told(&parse("").unwrap()), told(&Config::default()));
}

#[test]
fn every_setting_reaches_the_configuration_and_nothing_else() {
    for setting in SETTINGS {
        let mut changed = Config::default();
        another(setting, &mut changed);
        assert_ne!(told(&changed), told(&Config::default()), "{} changes nothing", setting.key);
        // Alone in a file, with every other setting left to its default, but for the one that it
        // needs.
        let mut file =
            format!("[{}]\n{} = {}\n", setting.section, setting.key, setting.value(&changed));
        if setting.key == "enabled"
            && ["order_files", "statements", "s3"].contains(&setting.section)
        {
            let error = refused(&file);
            assert!(error.contains("needs depot.enabled"), "{error}");
            file.push_str("[depot]\nenabled = true\n");
            changed.depot.enabled = true;
        }
        let read = parse(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(told(&read), told(&changed), "{file}");
    }
}

#[test]
fn defaults_are_within_their_ranges_and_ranges_are_exact() {
    for setting in SETTINGS {
        let Kind::Number { min, max, get, .. } = setting.kind else { continue };
        let default = get(&Config::default());
        assert!((min..=max).contains(&default), "{} = {default}", setting.key);
        let line = |value: u64| format!("[{}]\n{} = {value}\n", setting.section, setting.key);
        for value in [min, max] {
            let read = parse(&line(value)).unwrap();
            assert_eq!(get(&read), value, "{} cannot hold it", setting.key);
        }
        let outside = [min.checked_sub(1), max.checked_add(1)];
        for value in outside.into_iter().flatten() {
            let error = refused(&line(value));
            assert!(error.starts_with("2:") && error.contains(setting.key), "{error}");
        }
    }
}

#[test]
fn settings_are_unique_and_every_section_has_some() {
    for (at, setting) in SETTINGS.iter().enumerate() {
        let same = |other: &&Setting| (other.section, other.key) == (setting.section, setting.key);
        assert_eq!(SETTINGS[..at].iter().find(same).map(|other| other.key), None);
        assert!(setting.meaning.ends_with('.'), "{} is not explained in sentences", setting.key);
        assert!(SECTIONS.iter().any(|(section, _)| *section == setting.section));
    }
    for (section, _) in SECTIONS {
        assert!(SETTINGS.iter().any(|setting| setting.section == *section), "[{section}]");
    }
}

#[test]
fn the_page_has_a_row_for_every_section() {
    let page = include_str!("../../../../docs/configuration.md");
    let section_of = |line: &'static str| {
        let (section, _) = line.strip_prefix("| `[")?.split_once("]` | ")?;
        Some(section)
    };
    // `[[calendars]]` is a list of tables and has no settings here.
    let is_setting = |section: &&str| !section.starts_with('[');
    let mut named: Vec<&str> = page.lines().filter_map(section_of).filter(is_setting).collect();
    if cfg!(not(feature = "s3")) {
        named.retain(|section| *section != "s3");
    }
    let mut known: Vec<&str> = SECTIONS.iter().map(|(section, _)| *section).collect();
    named.sort_unstable();
    known.sort_unstable();
    assert_eq!(named, known, "the table of sections in docs/configuration.md");
}

#[test]
fn unknown_settings_are_refused_with_the_line() {
    let error = refused("[engine]\nlevel = \"synced\"\n\n  levle = \"synced\"\n");
    assert!(error.starts_with("4:3: there is no setting levle in [engine]"), "{error}");
    let error = refused("# a comment\n[engin]\n");
    assert!(error.starts_with("2:2: there is no section [engin]"), "{error}");
    let error = refused("[gateway]\nlevel = \"synced\"\n");
    assert!(error.contains("belongs in the section [engine]"), "{error}");
    let error = refused("level = \"synced\"\n");
    assert!(error.starts_with("1:1:"), "{error}");
    let error = refused("engine = 3\n");
    assert!(error.contains("write [engine] on a line of its own"), "{error}");
}

#[test]
fn malformed_values_are_refused_with_the_line() {
    for (text, start) in [
        ("[engine]\nlevel = synced\n", "2:"),
        (
            "[engine]\nlevel = \"fast\"\n",
            "2:9: level is \"fast\"; it must be \"memory\", \"buffered\" or \"synced\"",
        ),
        ("[engine]\nlevel = 3\n", "2:9: level must be"),
        ("[engine]\nspins = \"3\"\n", "2:9: spins must be"),
        ("[engine]\nspins = -1\n", "2:9: spins = -1: must be"),
        ("[engine]\nspins = 99999999999999999999999\n", "2:9:"),
        ("[engine]\nspins = 1.5\n", "2:9: spins must be"),
        ("[engine]\nspins = 1\nspins = 2\n", "3:"),
        ("[gateway]\nlisten = \"localhost\"\n", "2:10: listen must be an IP address"),
        ("[gateway]\noperations_listen = \"here\"\n", "2:21: operations_listen must be"),
        ("[gateway]\ntrusted_proxies = \"::1\"\n", "2:19: trusted_proxies must be a list"),
        (
            "[depot]\nwatch_roots = [\"srv\"]\n",
            "2:15: watch_roots must be a list of absolute paths",
        ),
        ("[gateway]\ntrusted_proxies = [\"x\"]\n", "2:19: trusted_proxies: \"x\" is not"),
        ("[gateway]\nallow_remote = 1\n", "2:16: allow_remote must be true or false"),
        ("[venue]\ndata_dir = \"\"\n", "2:12: data_dir must not be empty"),
        ("[venue\n", "1:"),
    ] {
        let error = refused(text);
        assert!(error.starts_with(start), "{text:?} gave {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn listening_on_the_network_has_to_be_allowed() {
    let error = refused("[gateway]\nlisten = \"0.0.0.0:80\"\n");
    assert!(error.contains("gateway.allow_remote = true"), "{error}");
    let error = refused("[gateway]\noperations_listen = \"0.0.0.0:81\"\n");
    assert!(error.contains("gateway.operations_listen = 0.0.0.0:81"), "{error}");
    assert!(parse("[gateway]\nlisten = \"0.0.0.0:80\"\nallow_remote = true\n").is_ok());
}

#[test]
fn two_listeners_need_two_ports() {
    let both = |listen: &str, operations: &str| {
        let lines = format!("listen = \"{listen}\"\noperations_listen = \"{operations}\"\n");
        format!("[gateway]\nallow_remote = true\n{lines}")
    };
    for other in ["127.0.0.1:80", "0.0.0.0:80"] {
        let error = refused(&both("127.0.0.1:80", other));
        assert!(error.contains("gateway.listen and gateway.operations_listen both"), "{error}");
    }
    for other in ["127.0.0.1:81", "127.0.0.2:80", "[::1]:80"] {
        assert!(parse(&both("127.0.0.1:80", other)).is_ok(), "{other}");
    }
    assert!(parse(&both("127.0.0.1:0", "127.0.0.1:0")).is_ok());
}

#[cfg(feature = "s3")]
#[test]
fn the_listener_of_s3_needs_its_own_port() {
    let of = |is_enabled: bool| {
        let gateway =
            "[gateway]\noperations_listen = \"127.0.0.1:8081\"\n[depot]\nenabled = true\n";
        format!("{gateway}[s3]\nenabled = {is_enabled}\n")
    };
    let error = refused(&of(true));
    assert!(error.contains("gateway.operations_listen and s3.listen both"), "{error}");
    assert!(parse(&of(false)).is_ok());
}

#[test]
fn faults_of_a_file_begin_with_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rialto.toml");
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        crate::tell_all(&read(&path).unwrap_err())
    };
    let error = refused(b"[engine]\nlevel = \"\xff\"\n");
    assert_eq!(error, format!("{}:2:10: this byte is not UTF-8", path.display()));
    let error = refused(b"[gateway]\nlisten = \"0.0.0.0:80\"\n");
    let start = format!("{}: gateway.listen = 0.0.0.0:80 is", path.display());
    assert!(error.starts_with(&start), "{error}");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = crate::tell_all(&read(Path::new("/nowhere/rialto.toml")).unwrap_err());
    assert!(error.contains("/nowhere/rialto.toml"), "{error}");
}

#[test]
fn calendars_are_read_and_printed() {
    let file = "[[calendars]]\nname = \"equities\"\nfile = \"a/equities.toml\"\n\
                [[calendars]]\nname = \"night_2\"\nfile = \"/b.toml\"\nplan_days = 3\n";
    let read = parse(file).unwrap();
    let [first, second] = &read.calendars[..] else { panic!("{:?}", read.calendars) };
    assert_eq!((first.name.as_str(), first.plan_days), ("equities", 14));
    assert_eq!((second.name.as_str(), second.plan_days), ("night_2", 3));
    assert_eq!(told(&parse(&print(&read)).unwrap()), told(&read));
}

#[test]
fn a_calendar_that_is_not_possible_is_refused_with_the_line() {
    let with = |line: &str| format!("[[calendars]]\nname = \"a\"\nfile = \"a\"\n{line}\n");
    for (text, start) in [
        ("calendars = 3\n".into(), "1:1: calendars is a list"),
        ("calendars = [3]\n".into(), "1:14: a calendar is a table"),
        ("[calendars]\nplan_days = 3\n".into(), "1:2: calendars is a list"),
        ("[[calendars]]\nname = \"a\"\n".into(), "1:1: this calendar has no file"),
        ("[[calendars]]\nfile = \"a\"\n".into(), "1:1: this calendar has no name"),
        ("[[calendars]]\nname = \"a b\"\n".into(), "2:8: name must be 1 to 36 letters"),
        ("[[calendars]]\nname = \"\"\n".into(), "2:8: name must be"),
        (format!("[[calendars]]\nname = \"{}\"\n", "a".repeat(37)), "2:8: name must be"),
        ("[[calendars]]\nfile = \"\"\n".into(), "2:8: file must be the path"),
        (with("plan_days = 0"), "4:13: plan_days must be 1 to 366"),
        (with("plan_days = 367"), "4:13: plan_days must be"),
        (with("plan_days = \"3\""), "4:13: plan_days must be"),
        (with("zone = \"UTC\""), "4:1: there is no setting zone in [[calendars]]"),
        (with(&with("")), "4:1: there are two calendars with the name a"),
    ] {
        let error = refused(&text);
        assert!(error.starts_with(start), "{text:?} gave {error}");
    }
    let many: String = (0..=CALENDARS_MAX)
        .map(|nth| format!("[[calendars]]\nname = \"{nth}\"\nfile = \"a\"\n"))
        .collect();
    assert!(refused(&many).contains("65 calendars are too many: at most 64"));
}

#[test]
fn the_file_of_a_calendar_is_beside_the_configuration_and_is_checked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rialto.toml");
    std::fs::write(&path, "[[calendars]]\nname = \"a\"\nfile = \"days/a.toml\"\n").unwrap();
    let error = crate::tell_all(&read(&path).unwrap_err());
    let file = dir.path().join("days/a.toml");
    assert!(error.starts_with(&format!("cannot read {}: ", file.display())), "{error}");
    std::fs::create_dir(dir.path().join("days")).unwrap();
    std::fs::write(&file, "zone = \"UTC\"\nweekdays = [\"moonday\"]\n").unwrap();
    let error = crate::tell_all(&read(&path).unwrap_err());
    assert!(error.starts_with(&format!("{}:2:", file.display())), "{error}");
    let example = include_str!("../../../../docs/calendars/equities.toml");
    std::fs::write(&file, example).unwrap();
    assert_eq!(read(&path).unwrap().calendars[0].file, file);
}
