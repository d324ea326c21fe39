//! What models of tests expect of themselves, in comments.

/// What is expected of one model of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name, from a line `// model NAME`.
    pub model: String,
    /// The first word of each line that follows, and the rest of it.
    pub lines: Vec<(String, String)>,
}

impl Group {
    /// What stands behind a word.
    pub fn word(&self, word: &str) -> Option<&str> {
        let found = self.lines.iter().find(|(first, _)| first == word);
        found.map(|(_, rest)| rest.as_str())
    }
}

/// The groups of comments of a file: each begins with `// model NAME`.
pub fn groups(text: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("// ")) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (word, groups.last_mut()) {
            ("model", _) => groups.push(Group {
                model: rest.trim().to_owned(),
                lines: Vec::new(),
            }),
            (_, Some(group)) => group.lines.push((word.to_owned(), rest.trim().to_owned())),
            _ => {}
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_belong_to_the_model_above_them() {
        let text = "// about\n// model A\n// nothing\nmodel A end A;\n// model B \n// final x  2\n//final y 3\n";
        let found = groups(text);
        let names: Vec<&str> = found.iter().map(|group| group.model.as_str()).collect();
        assert_eq!(names, ["A", "B"]);
        assert_eq!(found[0].lines, [("nothing".to_owned(), String::new())]);
        assert_eq!(found[1].lines, [("final".to_owned(), "x  2".to_owned())]);
        assert_eq!((found[1].word("final"), found[0].word("final")), (Some("x  2"), None));
    }
}
