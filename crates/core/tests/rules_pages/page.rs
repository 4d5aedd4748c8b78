//! Reading the tables of a page.

use std::collections::BTreeMap;

/// The rows of the tables of a page, the cells trimmed and without backquotes.
pub(crate) fn rows(page: &'static str) -> impl Iterator<Item = Vec<String>> {
    page.lines().filter_map(|line| {
        let line = line.strip_prefix('|')?.strip_suffix('|')?;
        Some(line.split('|').map(|cell| cell.trim().replace('`', "")).collect())
    })
}

/// The rows whose first cell is an id such as `A1` or `LA1`.
pub(crate) fn examples(page: &'static str) -> impl Iterator<Item = Vec<String>> {
    rows(page).filter(|cells| {
        let letters = letters(&cells[0]);
        let number = &cells[0][letters.len()..];
        !letters.is_empty() && number.parse::<u32>().is_ok()
    })
}

/// The examples whose ids have these letters.
pub(crate) fn examples_of(
    page: &'static str,
    wanted: &'static str,
) -> impl Iterator<Item = Vec<String>> {
    examples(page).filter(move |cells| letters(&cells[0]) == wanted)
}

/// The letters that an id begins with.
pub(crate) fn letters(id: &str) -> &str {
    let end = id.find(|letter: char| !letter.is_ascii_uppercase()).unwrap_or(id.len());
    &id[..end]
}

/// Orders such as `200@202 100@201`: quantity and price.
pub(crate) fn orders(text: &str) -> Vec<(i64, i64)> {
    let order = |text: &str| {
        let (quantity, price) = text.split_once('@')?;
        Some((quantity.parse().unwrap(), price.parse().unwrap()))
    };
    text.split_whitespace().filter_map(order).collect()
}

/// Orders as the levels of a side, by ascending price.
pub(crate) fn levels(text: &str) -> BTreeMap<i64, i64> {
    let mut levels = BTreeMap::new();
    for (quantity, price) in orders(text) {
        *levels.entry(price).or_default() += quantity;
    }
    levels
}
