//! Normalises what people and voice models send to what the schemas accept. What
//! is not understood stays as it is and is refused by the schema.

use kit::arguments::change;
use serde_json::Value;

pub use kit::arguments::{Arguments, integer, narrow, text};

use crate::model::{address::Platform, duration};

/// `"30"`, `"３０分"`, `"1時間"` for minutes; a fraction is rounded.
pub fn minutes(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| {
        let minutes = match value {
            Value::String(text) => duration::read_minutes(text)?,
            Value::Number(number) => number.as_f64()?,
            _ => return None,
        };
        let rounded = minutes.round();
        // A fraction of a minute becomes one minute; zero and less stay.
        let rounded = if minutes > 0.0 {
            rounded.max(1.0)
        } else {
            rounded
        };
        #[expect(clippy::cast_possible_truncation, reason = "it is small enough")]
        let whole = (rounded.abs() < 1e15).then_some(rounded as i64)?;
        Some(whole.into())
    });
}

/// A list of names becomes one text with commas.
pub fn joined(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| {
        let items = value.as_array()?.iter().map(Value::as_str);
        let items: Vec<&str> = items.collect::<Option<_>>()?;
        Some(items.join(", ").into())
    });
}

/// `メール` for email.
pub fn platform(arguments: &mut Arguments, name: &str) {
    text(arguments, name);
    change(arguments, name, |value| {
        Some(Platform::read(value.as_str()?)?.as_str().into())
    });
}

#[cfg(test)]
mod tests {
    use kit::testing::normalised;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_models_send() {
        assert_eq!(normalised(minutes, json!("３０")), json!(30));
        assert_eq!(normalised(minutes, json!("1時間")), json!(60));
        assert_eq!(normalised(minutes, json!(29.6)), json!(30));
        assert_eq!(normalised(minutes, json!(0.2)), json!(1));
        assert_eq!(normalised(minutes, json!(0)), json!(0));
        assert_eq!(normalised(minutes, json!(-5)), json!(-5));
        assert_eq!(normalised(minutes, json!("soon")), json!("soon"));
        assert_eq!(normalised(platform, json!("メール")), json!("email"));
        assert_eq!(normalised(platform, json!("fax")), json!("fax"));
        assert_eq!(normalised(joined, json!(["Ann", "Bob"])), json!("Ann, Bob"));
        assert_eq!(normalised(narrow, json!(" ｅｖｔ＿１ ")), json!("evt_1"));
        assert_eq!(normalised(integer, json!("２０")), json!(20));
    }
}
