// A cart as a receipt. Quantities can be changed where the mandate names its products.

const yen = (value) => new Intl.NumberFormat(locale, { style: "currency", currency: "JPY" }).format(value);

draw = (answer) => {
  const { contents } = answer.cart_mandate;
  const details = contents.payment_request?.details ?? contents;
  const total = details.total.amount ?? details.total;
  const goods = contents.metadata?.raw_items ?? [];
  const until = new Date(answer.expires_at);
  const row = ({ label, amount, pending }) => {
    const product = goods.find(({ name }) => name === label);
    return make("tr", {},
      make("td", {}, label, pending && ` (${words("not final", "未確定")})`),
      make("td", { class: "amount" }, product ? quantity(contents.id, product) : ""),
      make("td", { class: "amount" }, yen(amount.value)));
  };
  const kept = answer.reserved
    ? words("The goods are kept until", "商品の取り置き期限:")
    : words("Nothing is reserved; valid until", "取り置きなし。カートの有効期限:");
  show(
    make("h2", {}, words("Cart", "カート")),
    make("table", {},
      make("tbody", {}, details.display_items.map(row)),
      make("tfoot", {}, make("tr", {},
        make("th", { scope: "row", colspan: "2" }, words("Total", "合計")),
        make("th", { class: "amount" }, yen(total.value))))),
    make("p", { class: "hint" }, `${kept} ${clock(until)}`));
};

function quantity(cart, { product_id: product, name, quantity: now }) {
  const change = (to) => attempt(async () => {
    const answer = await call("update_cart", { cart_id: cart, items: [{ product_id: product, quantity: to }] });
    draw(answer);
    say(answer.message);
    tell(`The user changed cart ${cart}: ${answer.message}`);
  });
  const button = (sign, said, to) =>
    make("button", { type: "button", "aria-label": `${said}: ${name}`, onclick: () => change(to) }, sign);
  return make("span", {},
    button("−", words("one less", "1つ減らす"), now - 1), ` ${now} `,
    button("+", words("one more", "1つ増やす"), now + 1));
}
