//! A cart mandate, as a receipt.

use kit::{
    Context, Error, Result,
    console::{Cell, Part, Receipt, ReceiptLine, Section, pick},
};
use serde_json::Value;

use super::{
    recent_carts::standing,
    wording::{missing, time, yen},
};
use crate::{
    model::{
        address::{Address, ContactAddress},
        canonical,
        cart::{Cart, CartLine},
        formats::Format,
        money::Yen,
    },
    state::CounterState,
    store::{self, StoredCart},
};

pub async fn section(state: &CounterState, context: &Context, wanted: &str) -> Result<Section> {
    let title = pick(context, "Cart mandate", "カートマンデート");
    let id = wanted.to_owned();
    let read = state
        .store
        .query(context.budget(), move |sql| store::cart(sql, &id));
    let Some(stored) = read.await? else {
        let text = pick(
            context,
            "There is no such cart. Carts are kept for a day after they expire.",
            "そのカートはありません。カートは期限切れから1日で削除されます。",
        );
        return Ok(missing(title, text));
    };
    let cart: Cart = serde_json::from_str(&stored.cart).map_err(Error::internal)?;
    let quote = &cart.quote;
    let is_pending = cart.address.is_none();
    let shipping = match quote.shipping {
        Yen::ZERO => pick(context, "free", "無料").to_owned(),
        fee => yen(context, fee),
    };
    let shipping_label = match is_pending {
        true => pick(context, "Shipping (no address yet)", "送料（住所未定）"),
        false => pick(context, "Shipping", "送料"),
    };
    let sum = |english, japanese, amount| {
        let label: &str = pick(context, english, japanese);
        (label.to_owned(), yen(context, amount))
    };
    let receipt = Receipt {
        seller: cart.merchant.name.clone(),
        facts: facts(state, context, &cart, &stored)?,
        lines: cart.lines.iter().map(|of| line(context, of)).collect(),
        sums: vec![
            sum("Subtotal", "小計", quote.subtotal),
            (shipping_label.to_owned(), shipping),
            sum("Consumption tax", "消費税", quote.tax),
        ],
        total: sum("Total", "合計", quote.total),
    };
    Ok(Section {
        title: title.into(),
        parts: vec![Part::Receipt(receipt)],
    })
}

fn line(context: &Context, of: &CartLine) -> ReceiptLine {
    let unit = yen(context, of.unit_price);
    let refund = match (of.refund_days, context.language) {
        (0, _) => String::new(),
        (days, kit::Language::English) => format!(", can be returned within {days} days"),
        (days, kit::Language::Japanese) => format!("、{days}日以内は返品可能"),
    };
    ReceiptLine {
        label: of.name.clone(),
        note: format!("{} × {unit}{refund}", of.quantity),
        amount: yen(context, of.total),
    }
}

fn facts(
    state: &CounterState,
    context: &Context,
    cart: &Cart,
    stored: &StoredCart,
) -> Result<Vec<(String, Cell)>> {
    let is_open = !stored.is_cancelled && stored.expires_at > state.now(context);
    let standing = standing(context, is_open, stored.is_cancelled, stored.is_reserved);
    let format: Format =
        serde_json::from_value(Value::String(stored.format.clone())).map_err(Error::internal)?;
    let mandate = cart.mandate(format, None, context.clock.now())?;
    let contents = mandate.get("contents").unwrap_or(&Value::Null);
    let fact = |english, japanese, cell| {
        let name: &str = pick(context, english, japanese);
        (name.to_owned(), cell)
    };
    let mut facts = vec![
        fact("Number", "番号", Cell::text(&cart.id)),
        fact("State", "状態", Cell::Tag(standing)),
        fact(
            "Made",
            "作成日時",
            time(state, cart.created.as_millisecond()),
        ),
        fact("Expires", "有効期限", time(state, stored.expires_at)),
        fact("Made by", "作成者", Cell::Caller(stored.caller.clone())),
        fact("Merchant", "販売者", Cell::text(&cart.merchant.id)),
        fact("Format", "形式", Cell::text(format.name())),
        fact("Signature", "署名", Cell::Text(signature(state, context))),
        fact(
            "SHA-256 of the contents",
            "内容のSHA-256",
            Cell::Text(canonical::digest(contents)?),
        ),
    ];
    if let Some(address) = &cart.address {
        let lines = Cell::LongText(address_lines(address));
        facts.push(fact("Ship to", "お届け先", lines));
    }
    Ok(facts)
}

/// Mandates are signed when an agent reads them.
fn signature(state: &CounterState, context: &Context) -> String {
    match &state.signer {
        None => pick(
            context,
            "None: no signing key is set.",
            "なし（署名鍵が設定されていません）",
        )
        .to_owned(),
        Some(signer) => match context.language {
            kit::Language::English => format!(
                "ES256 with {}, made anew whenever the mandate is read.",
                signer.key_id()
            ),
            kit::Language::Japanese => format!(
                "ES256、鍵は{}。マンデートを読むたびに署名されます。",
                signer.key_id()
            ),
        },
    }
}

fn address_lines(address: &Address) -> String {
    let ContactAddress {
        recipient,
        organization,
        postal_code,
        region,
        city,
        dependent_locality,
        address_line,
        country,
        phone_number,
        ..
    } = address.fields();
    let lines = address_line.iter().flatten();
    let fields = [
        recipient,
        organization,
        postal_code,
        region,
        city,
        dependent_locality,
    ];
    let before = fields.into_iter().flatten();
    let after = [country, phone_number].into_iter().flatten();
    let all: Vec<&str> = before
        .chain(lines)
        .chain(after)
        .map(String::as_str)
        .collect();
    all.join("\n")
}
