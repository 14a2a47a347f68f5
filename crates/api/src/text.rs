//! Texts that every store can hold.

/// JSON may write what no store can hold: a NUL or half of a surrogate pair.
///
/// # Errors
/// What it has, in words.
pub fn check_strings(json: &str) -> Result<(), &'static str> {
    let mut rest = json;
    let mut high = false;
    while let Some(at) = rest.find('\\') {
        let escape = rest.as_bytes().get(at + 1).copied();
        let code = rest.get(at + 2..at + 6).and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let low = matches!((escape, code), (Some(b'u'), Some(0xdc00..=0xdfff)));
        // A low half stands right behind a high one, and nowhere else.
        let paired = high && low && at == 0;
        if (high || low) && !paired {
            return Err("a text with half of a surrogate pair");
        }
        match (escape, code) {
            (Some(b'u'), Some(0)) => return Err("a text with a NUL"),
            (Some(b'u'), Some(code)) => {
                high = matches!(code, 0xd800..=0xdbff);
                rest = &rest[at + 6..];
            }
            _ => {
                high = false;
                rest = rest.get(at + 2..).unwrap_or("");
            }
        }
    }
    if high { Err("a text with half of a surrogate pair") } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nul_and_half_pairs_are_refused_and_their_harmless_looks_are_not() {
        for good in [r#""\\u0000""#, r#""\ud83d\ude00""#, r#""😀""#, r#"{"a":[1,"\n\\"]}"#, r#""\u00e9\\""#]
        {
            assert_eq!(check_strings(good), Ok(()), "{good}");
        }
        for bad in [
            r#""\u0000""#,
            r#""\ud800""#,
            r#""\ude00""#,
            r#""\ud83dx\ude00""#,
            r#""\ud83d\n""#,
            r#""\ud83d\ud83d\ude00""#,
        ] {
            assert!(check_strings(bad).is_err(), "{bad}");
        }
    }
}
