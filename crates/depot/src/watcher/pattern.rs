//! Patterns of names: `*` is any text without `/`, `?` is one character other than `/`.

/// Whether a pattern selects a file. A pattern with a `/` is compared with the path in the folder, and
/// one without with the name.
pub(super) fn selects(pattern: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches(pattern, if pattern.contains('/') { path } else { name })
}

/// Steps through both texts; a `*` takes one character more each time that the rest does not fit, so
/// that the time is at most the product of the lengths.
fn matches(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // What is left of both behind the last `*`, and where that began to take characters.
    let mut retry = None;
    loop {
        let (before, here) = (pattern.clone(), text.clone());
        let fits = match (pattern.next(), text.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                text = here.clone();
                retry = Some((pattern.clone(), here));
                true
            }
            (Some('?'), Some(character)) => character != '/',
            (Some(wanted), Some(character)) => wanted == character,
            (_, None) => {
                // The text has ended: no longer run of a `*` can help.
                return before.as_str().chars().all(|rest| rest == '*');
            }
            (None, Some(_)) => false,
        };
        if fits {
            continue;
        }
        let Some((behind, mut from)) = retry.take() else { return false };
        if from.next().is_none_or(|skipped| skipped == '/') {
            return false;
        }
        (pattern, text) = (behind.clone(), from.clone());
        retry = Some((behind, from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text_and_a_question_mark_one_character() {
        for (pattern, text) in [
            ("*", "a"),
            ("*.csv", "a.csv"),
            ("*.csv", ".csv"),
            ("a*b*c", "axxbyybzc"),
            ("?.csv", "ü.csv"),
            ("a**", "a"),
            ("*a", "aaa"),
            ("in/*.csv", "in/a.csv"),
        ] {
            assert!(selects(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("*.csv", "a.csv.tmp"),
            ("?.csv", "ab.csv"),
            ("?", ""),
            ("a*b", "abc"),
            ("in/*.csv", "in/x/a.csv"),
            ("in?a", "in/a"),
            ("", "a"),
        ] {
            assert!(!selects(pattern, text), "{pattern} {text}");
        }
        assert!(selects("*.csv", "in/x/a.csv"), "a pattern without a slash is for the name");
    }

    #[test]
    fn a_hostile_pattern_takes_bounded_time() {
        let pattern = "*a".repeat(120) + "b";
        assert!(!matches(&pattern, &"a".repeat(255)));
    }
}
