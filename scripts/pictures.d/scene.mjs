// What agents say and do before the pictures are taken, in both languages. `take.mjs` comes
// after this.

/** A day of this week or the next, as the calendar tools take it. */
function at(days, time) {
  const day = new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  return `${day}T${time}:00+09:00`;
}

const scenes = {
  en: {
    locale: "en-US",
    timezoneId: "Asia/Tokyo",
    film: "Midnight Kitchen",
    message: { to: "Ann Smith", subject: "Friday", text: "I have two seats for Friday evening. Will you come along?" },
    reason: "The party is on Saturday.",
    search: "mug",
    room: "release",
    about: "Version 1.4, until Friday",
    person: "Mika",
    talk: [
      ["planner", "Good morning. T003 and T004 are left for Friday. @coder, can you take T003?"],
      ["coder", "Yes. The import already reads the new file; the tests are missing."],
      ["tester", "I have three files from the shop that fail today. They are in `samples/`."],
      ["coder", "Good, I use those. Done in an hour."],
      ["Mika", "Please keep the old column names too, @coder. Our suppliers still send them."],
      ["coder", "Noted, both are accepted. I added it to the context of T003."],
    ],
    tasks: [
      ["Agree on the columns of the price list", "Import", "done"],
      ["Read the new price list", "Import", "done"],
      ["Accept the old column names too", "Import", "in_progress"],
      ["Say which line is wrong", "Import", "todo"],
      ["Write the release notes", "Release", "todo"],
      ["Try the upgrade with last year's data", "Release", "todo"],
    ],
    adr: {
      title: "Accept both column names", context: "Suppliers change their files at different times.",
      decision: "The import accepts the old and the new names until July.",
      rationale: "Nobody has to change on the same day.", status: "Accepted",
    },
    events: [
      ["Review of the release", at(1, "10:00"), 60], ["Dentist", at(2, "15:30"), 30],
      ["Dinner with Ann", at(3, "19:00"), 120], ["Tax papers", at(0, "13:00"), 45],
    ],
    reminders: [["Water the plants", at(1, "08:00")], ["Call the landlord", at(2, "09:30")]],
  },
  ja: {
    locale: "ja-JP",
    timezoneId: "Asia/Tokyo",
    film: "ミッドナイト・キッチン",
    message: { to: "田中 太郎", subject: "金曜日の件", text: "金曜の夜の席が二つ取れました。一緒に行きませんか。" },
    reason: "集まりは土曜日です。",
    search: "マグ",
    room: "release",
    about: "1.4版、金曜日まで",
    person: "美香",
    talk: [
      ["計画係", "おはようございます。金曜日までに残っているのはT003とT004です。@実装係 T003をお願いできますか。"],
      ["実装係", "はい。新しい価格表は読み込めています。テストがまだです。"],
      ["試験係", "今日うまく読めない店のファイルが三つあります。`samples/` に置きました。"],
      ["実装係", "助かります。それを使います。一時間で終わります。"],
      ["美香", "@実装係 古い列名も残してください。仕入先からまだ届きます。"],
      ["実装係", "承知しました。両方とも受け付けます。T003の文脈に書き足しました。"],
    ],
    tasks: [
      ["価格表の列を決める", "取り込み", "done"],
      ["新しい価格表を読み込む", "取り込み", "done"],
      ["古い列名も受け付ける", "取り込み", "in_progress"],
      ["誤りのある行を知らせる", "取り込み", "todo"],
      ["リリースノートを書く", "リリース", "todo"],
      ["昨年のデータで更新を試す", "リリース", "todo"],
    ],
    adr: {
      title: "新旧の列名を受け付ける", context: "仕入先がファイルを変える時期はそれぞれ違う。",
      decision: "取り込みは7月まで新旧どちらの列名も受け付ける。",
      rationale: "全員が同じ日に変えなくてよい。", status: "Accepted",
    },
    events: [
      ["リリースの確認", at(1, "10:00"), 60], ["歯医者", at(2, "15:30"), 30],
      ["田中さんと夕食", at(3, "19:00"), 120], ["確定申告の書類", at(0, "13:00"), 45],
    ],
    reminders: [["植木に水をやる", at(1, "08:00")], ["大家さんに電話", at(2, "09:30")]],
  },
};

/** Everything but what waits for a decision. */
async function play(scene, call, keys) {
  const { room, about, person, talk } = scene;
  const create = { roomName: room, agentName: talk[0][0], description: about };
  await call(keys.team, "rooms", "create_room", create);
  // The first is there already, and the person comes later.
  const names = new Set(talk.map(([name]) => name));
  for (const name of [talk[0][0], person]) names.delete(name);
  for (const agentName of names) await call(keys.team, "rooms", "enter_room", { roomName: room, agentName });
  for (const [title, category] of scene.tasks) await call(keys.team, "todo", "create_task", { title, category });
  for (const [index, [, , status]] of scene.tasks.entries()) {
    const task_id = `T00${index + 1}`;
    if (status !== "todo") await call(keys.team, "todo", "update_task", { task_id, status });
  }
  await call(keys.team, "todo", "create_adr", scene.adr);
  for (const [title, start, duration_min] of scene.events) {
    await call(keys.assistant, "innervoice", "calendar_create", { title, start, duration_min });
  }
  for (const [note, time] of scene.reminders) {
    await call(keys.assistant, "innervoice", "reminder_create", { note, time });
  }
  await call(keys.shopper, "merchant", "search_products", { keywords: [scene.search] });
  const items = [{ product_id: 1, quantity: 2 }, { product_id: 5, quantity: 1 }];
  const cart = await call(keys.shopper, "merchant", "build_cart_mandates", { cart_plan: { items }, reserve: true });
  await call(keys.boxOffice, "cinema", "get_movie_list", {});
  return cart.cart_mandate.contents.id;
}

/** What agents say, and a person between them. */
async function converse(scene, call, keys, saysPerson) {
  for (const [agentName, message] of scene.talk) {
    if (agentName === scene.person) await saysPerson(message);
    else await call(keys.team, "rooms", "send_message", { roomName: scene.room, agentName, message });
  }
}
