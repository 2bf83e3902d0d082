//! A made-up shop of any size, the same on every machine: words are as unevenly
//! frequent as in a real one.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
};

use anyhow::Result;
use serde::Serialize;

use crate::words::{Words, words};

const BRAND_COUNT: usize = 4_000;
/// Has no divisor in common with the number of things, so that the frequent
/// ones are spread over the categories.
const STRIDE: usize = 37;

/// Numbers that look random; a seed always gives the same ones.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d | 1);
        dice.next();
        dice
    }

    /// xorshift64*.
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Small numbers far more often than large ones.
    fn uneven(&mut self, end: usize) -> usize {
        let share = self.next() as f64 / (1_u64 << 53) as f64;
        (((end as f64 + 1.0).powf(share) - 1.0) as usize).min(end - 1)
    }

    fn often<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.uneven(of.len())]
    }
}

pub struct Thing {
    pub text: String,
    /// The second half of a compound.
    pub tail: Option<String>,
    pub category: &'static str,
}

impl Thing {
    pub fn is_latin(&self) -> bool {
        self.text.is_ascii()
    }
}

#[derive(Serialize)]
pub struct Product<'a> {
    pub id: u64,
    pub sku: String,
    pub name: String,
    pub description: String,
    #[serde(rename = "price_jpy")]
    pub price: u64,
    #[serde(rename = "inventory_count")]
    pub stock: u64,
    pub category: &'static str,
    pub brand: &'a str,
    pub image_url: String,
    pub refund_period_days: u64,
    pub keywords: Vec<&'static str>,
    #[serde(skip)]
    pub thing: &'a Thing,
    #[serde(skip)]
    pub first_trait: Option<&'static str>,
    #[serde(skip)]
    pub colour: Option<&'static str>,
    #[serde(skip)]
    pub model: Option<String>,
}

impl Product<'_> {
    /// Whether a search may read all of `texts` in it.
    pub fn holds(&self, texts: &[String]) -> bool {
        let all = format!(
            "{} {} {} {} {}",
            self.name,
            self.description,
            self.sku,
            self.brand,
            self.keywords.join(" ")
        );
        let all = all.to_lowercase();
        texts.iter().all(|text| all.contains(&text.to_lowercase()))
    }
}

/// What the checks of every answer look up.
#[derive(Clone, Copy)]
pub struct Facts {
    pub price: u64,
    pub stock: u64,
}

/// Products 1 to `products`.
pub struct Catalogue {
    pub products: u64,
    things: Vec<Thing>,
    brands: Vec<String>,
    traits: Vec<&'static str>,
    colours: Vec<&'static str>,
    sizes: Vec<&'static str>,
    phrases: Vec<&'static str>,
    facts: Vec<Facts>,
}

impl Catalogue {
    pub fn new(products: u64) -> Result<Self> {
        let words = words()?;
        let mut catalogue = Self {
            products,
            things: things(&words),
            brands: brands(&words),
            traits: split(words.traits),
            colours: split(words.colours),
            sizes: split(words.sizes),
            phrases: split(words.phrases),
            facts: Vec::new(),
        };
        catalogue.facts = (1..=products)
            .map(|id| {
                let Product { price, stock, .. } = catalogue.product(id);
                Facts { price, stock }
            })
            .collect();
        Ok(catalogue)
    }

    pub fn facts(&self, id: u64) -> Option<Facts> {
        let index = usize::try_from(id.checked_sub(1)?).ok()?;
        self.facts.get(index).copied()
    }

    pub fn any_id(&self, dice: &mut Dice) -> u64 {
        1 + dice.below(self.facts.len()) as u64
    }

    /// One that can be sold.
    pub fn any_in_stock(&self, dice: &mut Dice) -> u64 {
        loop {
            let id = self.any_id(dice);
            if self.facts(id).is_some_and(|facts| facts.stock > 0) {
                return id;
            }
        }
    }

    pub fn product(&self, id: u64) -> Product<'_> {
        let mut dice = Dice::new(id);
        let count = self.things.len();
        let thing = &self.things[dice.uneven(count) * STRIDE % count];
        let brand = &*self.brands[dice.uneven(self.brands.len())];
        let mut name = brand.to_owned();
        // Brands in kana and kanji often run into the name.
        if brand.is_ascii() || dice.chance(80) {
            name.push(' ');
        }
        let mut first_trait = None;
        for _ in 0..dice.below(3) {
            let praise = dice.often(&self.traits);
            first_trait = first_trait.or(Some(praise));
            name.push_str(praise);
            if thing.is_latin() || dice.chance(60) {
                name.push(' ');
            }
        }
        name.push_str(&thing.text);
        let colour = dice.chance(50).then(|| dice.often(&self.colours));
        let size = dice.chance(60).then(|| dice.often(&self.sizes));
        let model = dice.chance(20).then(|| model(&mut dice));
        for part in [colour, size, model.as_deref()].into_iter().flatten() {
            name.push(' ');
            name.push_str(part);
        }
        let mut description = format!("{brand}の{}。", thing.text);
        for _ in 0..=dice.below(3) {
            description.push_str(dice.one(&self.phrases));
            description.push('。');
        }
        let keywords = match dice.chance(30) {
            true => vec![dice.one(&self.traits)],
            false => Vec::new(),
        };
        let is_sold_out = dice.chance(10);
        let stock = if is_sold_out { 0 } else { 5 + dice.below(500) };
        Product {
            id,
            sku: format!("SKU-{id:07}"),
            name,
            description,
            price: 100 + dice.below(600) as u64 * 20,
            stock: stock as u64,
            category: thing.category,
            brand,
            image_url: format!("/assets/{id}.png"),
            refund_period_days: dice.one(&[7, 14, 30]),
            keywords,
            thing,
            first_trait,
            colour,
            model,
        }
    }

    /// A JSON object on each line.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        for id in 1..=self.products {
            serde_json::to_writer(&mut file, &self.product(id))?;
            file.write_all(b"\n")?;
        }
        file.flush()?;
        Ok(())
    }
}

fn split(words: &'static str) -> Vec<&'static str> {
    words.split_whitespace().collect()
}

fn things(words: &Words<'static>) -> Vec<Thing> {
    let mut things = Vec::new();
    for (category, words) in words.things.iter().copied() {
        for word in words.split_whitespace() {
            things.push(Thing {
                text: word.replace('+', "").replace('_', " "),
                tail: word.split_once('+').map(|(_, tail)| tail.to_owned()),
                category,
            });
        }
    }
    things
}

fn brands(words: &Words<'static>) -> Vec<String> {
    let parts = words.brands.map(split);
    let mut dice = Dice::new(7);
    let mut brands = vec!["むぎぼー".to_owned()];
    while brands.len() < BRAND_COUNT {
        let kind = dice.below(parts.len());
        let letters = 2 + dice.below(3);
        let brand: String = (0..letters).map(|_| dice.one(&parts[kind])).collect();
        brands.push(brand);
    }
    brands
}

fn model(dice: &mut Dice) -> String {
    let series = dice.one(&["WH", "XR", "KP", "TZ", "DL", "MB", "SC", "QN"]);
    let edition = dice.one(&["X", "M", "S", "EX", "MK"]);
    format!("{series}-{}{edition}", 100 + dice.below(9_900))
}
