//! Canonical JSON (RFC 8785): the same value always gives the same text, whoever
//! wrote it. This text is hashed and signed.

use kit::{Error, Result};
use serde_json::Value;
use sha2::{Digest, Sha256};

pub fn canonical(value: &Value) -> Result<Vec<u8>> {
    serde_json_canonicalizer::to_vec(value).map_err(Error::internal)
}

/// SHA-256 of the canonical text, in lower-case hexadecimal.
pub fn digest(value: &Value) -> Result<String> {
    Ok(kit::text::hex(Sha256::digest(canonical(value)?)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(value: &Value) -> String {
        String::from_utf8(canonical(value).unwrap()).unwrap()
    }

    fn number(bits: u64) -> String {
        text(&json!(f64::from_bits(bits)))
    }

    /// RFC 8785, section 3.2.2: literals, numbers and strings.
    #[test]
    fn the_sample_of_the_rfc() {
        let sample = r#"{
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#;
        let value: Value = serde_json::from_str(sample).unwrap();
        assert_eq!(
            text(&value),
            "{\"literals\":[null,true,false],\
             \"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
             \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
        );
    }

    /// Section 3.2.3: members by their UTF-16 code units, in which 😀 (D83D) comes
    /// before דּ (FB33).
    #[test]
    fn members_are_sorted_by_utf_16() {
        let value = json!({
            "\u{20ac}": "Euro Sign",
            "\r": "Carriage Return",
            "\u{fb33}": "Hebrew Letter Dalet With Dagesh",
            "1": "One",
            "\u{1f600}": "Emoji: Grinning Face",
            "\u{80}": "Control",
            "\u{f6}": "Latin Small Letter O With Diaeresis",
        });
        let text = text(&value);
        let places: Vec<usize> = [
            "Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew",
        ]
        .iter()
        .map(|name| text.find(name).unwrap())
        .collect();
        assert!(places.is_sorted(), "{text}");
    }

    /// Appendix B.
    #[test]
    fn numbers_as_ecmascript_writes_them() {
        for (bits, expected) in [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            assert_eq!(number(bits), expected, "{bits:x}");
        }
    }

    #[test]
    fn a_float_and_an_integer_are_one_number() {
        assert_eq!(text(&json!({ "value": 8206.0 })), r#"{"value":8206}"#);
        assert_eq!(
            digest(&json!({ "b": 1, "a": 8206.0 })).unwrap(),
            digest(&json!({ "a": 8206, "b": 1.0 })).unwrap()
        );
        assert_eq!(
            digest(&json!({})).unwrap(),
            "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
        );
    }
}
