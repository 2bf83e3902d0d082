//! Typical queries, by kind.

use crate::catalogue::{self, COLOURS, Dice, THINGS, TRAITS};

pub const KINDS: &[&str] = &[
    "word",
    "part of a word",
    "other kana or width",
    "typo",
    "beginning of a word",
    "several words",
    "run together",
    "brand and word",
    "model or SKU",
    "nonsense",
];

pub fn queries(kind: &str, count: usize, products: i64) -> Vec<String> {
    let brands = catalogue::brands();
    let mut dice = Dice::new(kind.len() as u64 * 31 + 5);
    (0..count)
        .map(|_| query(kind, &mut dice, &brands, products))
        .collect()
}

#[rustfmt::skip]
const NONSENSE: &[&str] = &[
    "ゾヌペギャ", "qwrtzpsdf", "ぬぬぬぬぬぬ", "xyzzyplugh", "ヲヱヰヶヮ", "ぽぺぷぴぱぺ",
    "鑿齟齬鬱", "zzzzzzzz", "ムニョペラゲ", "1a2b3c4d5e6f7g", "!!!???", "へのへのもへじ",
];

const LATIN_BEGINNINGS: &[&str] = &[
    "keyb", "mecha", "wirel", "earb", "lamp", "trav", "note", "back", "cam", "blue",
];

#[rustfmt::skip]
const PARTS_OF_WORDS: &[&str] = &[
    "バッグ", "時計", "ボール", "容器", "バッテリー", "ラケット", "スプーン", "傘", "豆", "ハブ",
    "茶", "箸", "ケース", "セット", "カバー", "チェア", "スタンド", "オイル", "ブラシ", "クリーム",
    "ケーブル", "用品", "機", "靴", "ソース",
];

fn query(kind: &str, dice: &mut Dice, brands: &[String], products: i64) -> String {
    let thing = dice.one(THINGS);
    match kind {
        "word" => thing.to_owned(),
        "part of a word" => dice.one(PARTS_OF_WORDS).to_owned(),
        "other kana or width" => in_hiragana(thing),
        "typo" => {
            let long: Vec<&str> = THINGS
                .iter()
                .copied()
                .filter(|thing| thing.chars().count() >= 5)
                .collect();
            mistyped(dice.one(&long), dice)
        }
        "beginning of a word" => {
            if dice.chance(50) {
                dice.one(LATIN_BEGINNINGS).to_owned()
            } else {
                thing.chars().take(3).collect()
            }
        }
        "several words" => format!("{} {thing} {}", dice.often(TRAITS), dice.often(COLOURS)),
        "run together" => format!("{}{thing}", dice.often(TRAITS)),
        "brand and word" => format!("{} {thing}", brands[dice.uneven(brands.len())]),
        "model or SKU" => {
            let id = 1 + dice.below(products as usize) as i64;
            if dice.chance(50) {
                format!("SKU-{id:07}")
            } else {
                catalogue::model(id)
            }
        }
        _ => dice.one(NONSENSE).to_owned(),
    }
}

fn in_hiragana(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            'ァ'..='ヶ' => char::from_u32(character as u32 - 0x60).unwrap_or(character),
            '!'..='~' => char::from_u32(character as u32 + 0xfee0).unwrap_or(character),
            other => other,
        })
        .collect()
}

fn mistyped(text: &str, dice: &mut Dice) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let at = 1 + dice.below(letters.len() - 2);
    match dice.below(3) {
        0 => {
            letters.remove(at);
        }
        1 => letters.swap(at, at + 1),
        _ => letters[at] = if letters[at].is_ascii() { 'q' } else { 'ヌ' },
    }
    letters.into_iter().collect()
}
