//! Makes names of people comparable.
//!
//! Contacts are stored with their folded names (`store/contacts.rs`). So a change here
//! needs a migration that folds them again.

/// [`kit::text::fold`], which also replaces old forms of characters in names by
/// those that speech recognition writes: `髙橋` becomes `高橋`.
pub fn fold(name: &str) -> String {
    kit::text::fold(name).chars().map(common_form).collect()
}

fn common_form(letter: char) -> char {
    match letter {
        '髙' => '高',
        '﨑' | '嵜' | '碕' => '崎',
        '邊' | '邉' => '辺',
        '濵' | '濱' => '浜',
        '齋' => '斎',
        '齊' => '斉',
        '澤' => '沢',
        '德' => '徳',
        '瀨' => '瀬',
        '𠮷' => '吉',
        '廣' => '広',
        '國' => '国',
        '嶋' | '嶌' => '島',
        '櫻' => '桜',
        '眞' => '真',
        '惠' => '恵',
        '榮' => '栄',
        '淵' => '渕',
        '曾' => '曽',
        '冨' => '富',
        '峯' => '峰',
        '壽' => '寿',
        '藏' => '蔵',
        '實' => '実',
        '龍' => '竜',
        '條' => '条',
        '靜' => '静',
        '寬' => '寛',
        '黑' => '黒',
        other => other,
    }
}

/// Other names that a full name implies: each part, and the parts in reverse order.
pub fn parts(name: &str) -> Vec<String> {
    let parts: Vec<&str> = name.split_whitespace().collect();
    if parts.len() < 2 {
        return Vec::new();
    }
    let reversed: Vec<&str> = parts.iter().rev().copied().collect();
    let each = parts.iter().map(|part| (*part).to_owned());
    each.chain([reversed.join(" ")]).collect()
}

/// The name without line breaks and other control characters.
pub fn one_line(name: &str) -> String {
    let spaced = name.replace(|letter: char| letter.is_control(), " ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    words.join(" ")
}
