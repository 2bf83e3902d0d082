//! What people and models really send, turned into what schemas say: the part
//! that is the same for every counter. What is not understood stays as it is,
//! and is refused by the schema.

use serde_json::{Map, Value};

use crate::text;

pub type Arguments = Map<String, Value>;

/// Models send `null` for what they do not know.
pub fn drop_nulls(arguments: &mut Arguments) {
    arguments.retain(|_, value| !value.is_null());
}

/// Text as it was meant: a number becomes text, white space around it goes.
pub fn text(arguments: &mut Arguments, name: &str) {
    change(arguments, name, |value| match value {
        Value::String(text) => Some(text.trim().into()),
        Value::Number(number) => Some(number.to_string().into()),
        _ => None,
    });
}

/// An id or a time: full-width letters become ASCII as well.
pub fn narrow(arguments: &mut Arguments, name: &str) {
    text(arguments, name);
    change(arguments, name, |value| {
        Some(text::narrow(value.as_str()?).into())
    });
}

/// `"20"` and `"２０"` for 20.
pub fn integer(arguments: &mut Arguments, name: &str) {
    change(arguments, name, whole);
}

/// The whole number that a text says.
pub fn whole(value: &Value) -> Option<Value> {
    Some(text::narrow(value.as_str()?).parse::<i64>().ok()?.into())
}

/// Puts what `change` makes of an argument in its place, if it makes something.
pub fn change(arguments: &mut Arguments, name: &str, change: impl FnOnce(&Value) -> Option<Value>) {
    if let Some(value) = arguments.get_mut(name)
        && let Some(changed) = change(value)
    {
        *value = changed;
    }
}
