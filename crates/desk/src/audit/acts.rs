//! What people do at the desk itself, as records name it in place of a tool.

use kit::context::Language;

/// Stands for the desk itself where records name a counter.
pub const DESK: &str = "desk";

pub const POLICY_SET: &str = "policy/set";
pub const KEY_CREATE: &str = "key/create";
pub const KEY_ROTATE: &str = "key/rotate";
pub const KEY_REVOKE: &str = "key/revoke";

/// Name, English and Japanese title of each.
pub(super) const TITLES: [(&str, &str, &str); 4] = [
    (POLICY_SET, "Policy changed", "ポリシーの変更"),
    (KEY_CREATE, "Key made", "キーの作成"),
    (KEY_ROTATE, "Key rotated", "キーの更新"),
    (KEY_REVOKE, "Key revoked", "キーの失効"),
];

/// `None` if no act has this name.
pub fn title(name: &str, language: Language) -> Option<&'static str> {
    let mut titles = TITLES.into_iter();
    let (_, english, japanese) = titles.find(|(own, ..)| *own == name)?;
    Some(match language {
        Language::English => english,
        Language::Japanese => japanese,
    })
}
