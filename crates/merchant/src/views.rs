//! What chat clients show beside the counter's answers.

use kit::View;

pub const ALL: &[View] = &[View {
    uri: "ui://merchant/cart",
    name: "cart",
    title: "Cart",
    description: "The goods of a cart with their amounts, and until when it is valid.",
    tools: &["build_cart_mandates", "get_cart_mandate", "update_cart"],
    script: include_str!("views/cart.js"),
    style: "",
}];
