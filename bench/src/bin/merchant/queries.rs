//! What people ask a shop, kind by kind. Each question has products that it
//! means, so that an answer can be judged.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::catalogue::{Catalogue, Dice, Product};

/// Of each kind.
const COUNT: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Word,
    Part,
    Variant,
    Typo,
    Latin,
    Several,
    Brand,
    Code,
    Filtered,
    Nothing,
}

use Kind::{Brand, Code, Filtered, Latin, Nothing, Part, Several, Typo, Variant, Word};

pub const KINDS: [Kind; 10] = [
    Word, Part, Variant, Typo, Latin, Several, Brand, Code, Filtered, Nothing,
];

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Word => "a word",
            Part => "part of a compound",
            Variant => "other kana or width",
            Typo => "a typo",
            Latin => "Latin words, and their beginnings",
            Several => "three keywords",
            Brand => "a brand and a word",
            Code => "a SKU or model",
            Filtered => "a word, category and price",
            Nothing => "nothing to be found",
        }
    }
}

#[derive(Debug, Default, Clone)]
pub struct Filter {
    pub category: Option<&'static str>,
    pub prices: Option<(u64, u64)>,
}

#[derive(Clone)]
pub struct Query {
    pub keywords: Vec<String>,
    /// The same and the filter, for the tool.
    pub arguments: String,
    /// What a right first product holds; empty when there is none.
    pub meant: Vec<String>,
    pub filter: Filter,
}

pub fn of_kind(kind: Kind, catalogue: &Catalogue) -> Vec<Query> {
    let mut dice = Dice::new(1_000 + kind as u64);
    (0..COUNT)
        .map(|_| {
            // Most products serve most kinds; which ones is up to the dice.
            loop {
                let product = catalogue.product(catalogue.any_in_stock(&mut dice));
                if let Some(query) = ask(kind, &product, &mut dice) {
                    return query;
                }
            }
        })
        .collect()
}

/// One of each kind after the other.
pub fn mixed(catalogue: &Catalogue) -> Vec<Query> {
    let kinds = KINDS.map(|kind| of_kind(kind, catalogue));
    let in_turn = (0..COUNT).flat_map(|at| kinds.iter().map(move |kind| kind[at].clone()));
    in_turn.collect()
}

/// A question that means this product among others, if it lends itself to it.
fn ask(kind: Kind, product: &Product<'_>, dice: &mut Dice) -> Option<Query> {
    let thing = &product.thing.text;
    let one = |keyword: String| Some(query(&[&keyword], &[thing], Filter::default()));
    match kind {
        Word if product.thing.is_latin() => None,
        Word => one(thing.clone()),
        Part => {
            let tail = product.thing.tail.as_ref()?;
            Some(query(&[tail], &[tail], Filter::default()))
        }
        Variant => one(variant(thing, dice)?),
        Typo => one(mistyped(thing, dice)?),
        Latin if !product.thing.is_latin() => None,
        Latin => {
            let mut asked = thing.to_lowercase();
            if dice.chance(50) {
                asked.truncate(5);
            }
            let asked = asked.trim_end();
            Some(query(&[asked], &[asked], Filter::default()))
        }
        Several => {
            let all = [product.first_trait?, thing, product.colour?];
            Some(query(&all, &all, Filter::default()))
        }
        Brand => {
            let both = [product.brand, thing];
            Some(query(&both, &both, Filter::default()))
        }
        Code => {
            let code = match dice.chance(50) {
                true => &product.sku,
                false => product.model.as_ref()?,
            };
            Some(query(&[code], &[code], Filter::default()))
        }
        Filtered => {
            let filter = Filter {
                category: dice.chance(60).then_some(product.category),
                prices: Some((product.price.saturating_sub(1_500), product.price + 1_500)),
            };
            Some(query(&[thing], &[thing], filter))
        }
        Nothing => {
            let parts = dice.one(&[&["q", "x", "z", "v", "k", "j", "w"][..], &RARE]);
            let nonsense: String = (0..8).map(|_| dice.one(parts)).collect();
            Some(query(&[&nonsense], &[], Filter::default()))
        }
    }
}

const RARE: [&str; 7] = ["ヲ", "ヱ", "ヰ", "ヌ", "ヮ", "ギョ", "ぺ"];

fn query(keywords: &[&str], meant: &[&str], filter: Filter) -> Query {
    let mut arguments = Map::new();
    arguments.insert("keywords".into(), json!(keywords));
    if let Some(category) = filter.category {
        arguments.insert("category".into(), json!([category]));
    }
    if let Some((least, most)) = filter.prices {
        arguments.insert("min_price".into(), least.into());
        arguments.insert("max_price".into(), most.into());
    }
    Query {
        keywords: keywords.iter().map(|text| (*text).to_owned()).collect(),
        arguments: Value::Object(arguments).to_string(),
        meant: meant.iter().map(|text| (*text).to_owned()).collect(),
        filter,
    }
}

/// In hiragana, in half-width kana, or with Latin letters in full width.
fn variant(text: &str, dice: &mut Dice) -> Option<String> {
    let varied: String = match dice.below(3) {
        0 => text.chars().map(in_hiragana).collect(),
        1 => in_half_width(text),
        _ => text.chars().map(in_full_width).collect(),
    };
    (varied != text).then_some(varied)
}

fn in_hiragana(letter: char) -> char {
    match letter {
        'ァ'..='ヶ' => char::from_u32(letter as u32 - 0x60).unwrap_or(letter),
        other => other,
    }
}

fn in_full_width(letter: char) -> char {
    match letter {
        '!'..='~' => char::from_u32(letter as u32 + 0xfee0).unwrap_or(letter),
        other => other,
    }
}

const FULL: &str = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲンァィゥェォッャュョー";
const HALF: &str = "ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜｦﾝｧｨｩｪｫｯｬｭｮｰ";

fn in_half_width(text: &str) -> String {
    let half: HashMap<char, char> = FULL.chars().zip(HALF.chars()).collect();
    let mut narrow = String::new();
    for letter in text.chars() {
        let before = |steps: u32| char::from_u32(letter as u32 - steps);
        let plain = half.get(&letter);
        // A voiced letter follows its plain one, and ハ has two of them.
        let voiced = before(1).and_then(|plain| half.get(&plain));
        let half_voiced = before(2).and_then(|plain| half.get(&plain));
        match (plain, voiced, half_voiced) {
            (Some(plain), _, _) => narrow.push(*plain),
            (None, Some(plain), _) => narrow.extend([*plain, 'ﾞ']),
            (None, None, Some(plain)) => narrow.extend([*plain, 'ﾟ']),
            (None, None, None) => narrow.push(letter),
        }
    }
    narrow
}

/// A letter left out, two swapped, or a wrong one.
fn mistyped(text: &str, dice: &mut Dice) -> Option<String> {
    let mut letters: Vec<char> = text.chars().collect();
    let is_latin = text.is_ascii();
    if letters.len() < if is_latin { 7 } else { 5 } {
        return None;
    }
    let at = 1 + dice.below(letters.len() - 2);
    match dice.below(3) {
        0 => {
            letters.remove(at);
        }
        1 => letters.swap(at, at + 1),
        _ => letters[at] = if is_latin { 'q' } else { 'ヌ' },
    }
    let mistyped: String = letters.into_iter().collect();
    (mistyped != text).then_some(mistyped)
}
