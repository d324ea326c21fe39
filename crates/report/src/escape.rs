//! Strangers' words in a page.

/// As text or as the value of an attribute in quotes. What HTML forbids, and characters that turn the direction of others, become
/// visible.
pub(crate) fn html(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            '\'' => result.push_str("&#39;"),
            c => result.push(harmless(c)),
        }
    }
    result
}

/// A JSON value inside a script element of data: nothing in it ends the element or begins a comment.
pub(crate) fn json(value: &serde_json::Value) -> String {
    let text = value.to_string();
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => result.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => result.push(harmless(c)),
        }
    }
    result
}

fn harmless(c: char) -> char {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}');
    let is_break = matches!(c, '\n' | '\t');
    if turns || (c.is_control() && !is_break) || matches!(c, '\u{fffe}' | '\u{ffff}') {
        '\u{fffd}'
    } else {
        c
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out() {
        assert_eq!(
            html("</script><img src=x onerror='a'>\"&\u{202e}\0"),
            "&lt;/script&gt;&lt;img src=x onerror=&#39;a&#39;&gt;&quot;&amp;\u{fffd}\u{fffd}"
        );
        let value = serde_json::json!({"a</script><!--": "]]>\u{2028}&\u{202e}\n"});
        let text = json(&value);
        assert!(!text.contains(['<', '>', '&', '\u{2028}', '\u{202e}']), "{text}");
        let back: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["a</script><!--"], "]]>\u{2028}&\u{fffd}\n");
    }
}
