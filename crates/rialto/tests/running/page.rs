//! What a page of the documentation shows.

/// The blocks of a page in one language; the language may be empty.
pub(crate) fn blocks(page: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut block: Option<(bool, String)> = None;
    for line in page.lines() {
        match &mut block {
            None => {
                let begun = line.strip_prefix("```");
                block = begun.map(|found| (found == language, String::new()));
            }
            Some(_) if line == "```" => {
                blocks.extend(block.take().filter(|(wanted, _)| *wanted).map(|(_, text)| text));
            }
            Some((_, text)) => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    blocks
}
