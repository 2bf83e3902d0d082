//! Shipping and tax.

use kit::Result;

use super::{
    cart::{CartLine, Quote},
    errors,
    money::{Rounding, TaxRate, Yen},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    pub shipping_fee: Yen,
    /// A subtotal of this much or more ships free.
    pub free_shipping_threshold: Yen,
    /// On goods and shipping together.
    pub tax_rate: TaxRate,
    pub rounding: Rounding,
}

impl Default for Terms {
    fn default() -> Self {
        const fn yen(amount: i64) -> Yen {
            match Yen::new(amount) {
                Ok(yen) => yen,
                Err(_) => Yen::ZERO,
            }
        }
        Self {
            shipping_fee: const { yen(500) },
            free_shipping_threshold: const { yen(5000) },
            tax_rate: TaxRate::TEN_PERCENT,
            rounding: Rounding::Floor,
        }
    }
}

impl Terms {
    /// The tax is rounded once, on the sum. Rounding each line would make the same goods
    /// cost more or less in two lines.
    pub fn quote(&self, lines: &[CartLine]) -> Result<Quote> {
        let subtotal = lines
            .iter()
            .try_fold(Yen::ZERO, |sum, line| sum.checked_add(line.total))
            .ok_or_else(errors::amount_too_large)?;
        let shipping = if subtotal >= self.free_shipping_threshold {
            Yen::ZERO
        } else {
            self.shipping_fee
        };
        let taxed = subtotal
            .checked_add(shipping)
            .ok_or_else(errors::amount_too_large)?;
        let tax = self.tax_rate.of(taxed, self.rounding);
        let total = taxed
            .checked_add(tax)
            .ok_or_else(errors::amount_too_large)?;
        Ok(Quote {
            subtotal,
            shipping,
            tax,
            total,
        })
    }

    /// What one piece costs with its tax, for display. Mandates do not add such
    /// prices up; they round once.
    pub fn with_tax(&self, price: Yen) -> Option<Yen> {
        price.checked_add(self.tax_rate.of(price, self.rounding))
    }

    /// The highest price without tax that costs at most so many yen with tax.
    pub fn highest_price_within(&self, with_tax: i64) -> i64 {
        let is_within = |price: i64| {
            let taxed = Yen::new(price).ok().and_then(|price| self.with_tax(price));
            taxed.is_some_and(|taxed| taxed.get() <= with_tax)
        };
        let (mut low, mut high) = (0, with_tax.clamp(0, Yen::MAX.get()));
        while low < high {
            let middle = low + (high - low + 1) / 2;
            match is_within(middle) {
                true => low = middle,
                false => high = middle - 1,
            }
        }
        low
    }

    /// The lowest price without tax that costs at least so many yen with tax.
    pub fn lowest_price_from(&self, with_tax: i64) -> i64 {
        match with_tax {
            ..=0 => 0,
            _ => self.highest_price_within(with_tax - 1) + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cart::Article;

    fn quote(terms: &Terms, goods: &[(i64, i64)]) -> Result<[i64; 4]> {
        let lines: Vec<CartLine> = goods
            .iter()
            .map(|(quantity, price)| {
                let article = Article {
                    id: *price,
                    price: Yen::new(*price).unwrap(),
                    ..Article::default()
                };
                CartLine::new(&article, *quantity).unwrap()
            })
            .collect();
        let quote = terms.quote(&lines)?;
        let amounts = [quote.subtotal, quote.shipping, quote.tax, quote.total];
        Ok(amounts.map(Yen::get))
    }

    #[test]
    fn the_written_rules_hold() {
        let quote = |goods| quote(&Terms::default(), goods).unwrap();
        assert_eq!(quote(&[(2, 1980), (1, 3500)]), [7460, 0, 746, 8206]);
        assert_eq!(quote(&[(1, 1980)]), [1980, 500, 248, 2728]);
        assert_eq!(quote(&[(1, 4999)]), [4999, 500, 549, 6048]);
        assert_eq!(quote(&[(1, 5000)]), [5000, 0, 500, 5500]);
    }

    #[test]
    fn the_tax_is_rounded_once() {
        let terms = |rounding| Terms {
            shipping_fee: Yen::ZERO,
            rounding,
            ..Terms::default()
        };
        // 5 × 0.1 is half a yen each, one yen and a half together.
        let goods = [(1, 5), (1, 5), (1, 5)];
        for (rounding, tax) in [
            (Rounding::Floor, 1),
            (Rounding::HalfUp, 2),
            (Rounding::Ceil, 2),
        ] {
            assert_eq!(
                quote(&terms(rounding), &goods).unwrap(),
                [15, 0, tax, 15 + tax]
            );
        }
    }

    #[test]
    fn too_much_is_refused() {
        let most = Yen::MAX.get();
        let terms = Terms::default();
        for goods in [vec![(1, most), (1, 1)], vec![(1, most)]] {
            let refused = quote(&terms, &goods).unwrap_err();
            assert_eq!(refused.code, "AMOUNT_TOO_LARGE");
        }
        assert_eq!(terms.with_tax(Yen::MAX), None);
        let price = Yen::new(1980).unwrap();
        assert_eq!(terms.with_tax(price).map(Yen::get), Some(2178));
    }

    #[test]
    fn bounds_with_tax_become_bounds_without() {
        for rounding in [Rounding::Floor, Rounding::HalfUp, Rounding::Ceil] {
            let terms = Terms {
                rounding,
                ..Terms::default()
            };
            let gross = |price| terms.with_tax(Yen::new(price).unwrap()).unwrap().get();
            for bound in (0..300).chain([2177, 2178, 2179]) {
                let most = terms.highest_price_within(bound);
                assert!(gross(most) <= bound && gross(most + 1) > bound, "{bound}");
                let least = terms.lowest_price_from(bound);
                assert!(gross(least) >= bound, "{bound}");
                assert!(least == 0 || gross(least - 1) < bound, "{bound}");
            }
        }
        let terms = Terms::default();
        assert_eq!(terms.highest_price_within(2178), 1980);
        assert!(terms.highest_price_within(i64::MAX) > Yen::MAX.get() / 2);
    }
}
