//! The sample products. The first five are those the document speaks of.

use crate::store::Product;

/// id, SKU, name, description, yen, stock, category, brand, keywords.
type Row = (
    i64,
    &'static str,
    &'static str,
    &'static str,
    i64,
    i64,
    &'static str,
    &'static str,
    &'static str,
);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    (1, "MUGIBO-CAL-2025", "むぎぼーカレンダー2025", "むぎぼーの可愛いカレンダー", 1980, 50, "goods", "むぎぼー", "カレンダー|かわいい|グッズ|壁掛け"),
    (2, "MUGIBO-KEY-01", "むぎぼーアクリルキーホルダー", "かばんに付けて持ち歩けるかわいいキーホルダー", 800, 30, "goods", "むぎぼー", "キーホルダー|かわいい|グッズ"),
    (3, "MUGIBO-MUG-01", "むぎぼーマグカップ", "電子レンジと食洗機で使える陶器のマグカップ。350ml。", 1650, 0, "kitchen", "むぎぼー", "マグカップ|食器|グッズ"),
    (4, "MUGIBO-TOTE-01", "むぎぼー帆布トートバッグ", "A4がすっぽり入る、厚手の帆布のトートバッグ", 2480, 24, "bags", "むぎぼー", "トートバッグ|エコバッグ|通勤"),
    (5, "MUGIBO-PLUSH-M", "むぎぼーぬいぐるみ（M）", "高さ30cm、ふわふわの抱き心地のぬいぐるみ", 3500, 15, "toys", "むぎぼー", "ぬいぐるみ|かわいい|プレゼント"),
    (6, "MUGIBO-STK-10", "むぎぼーステッカー10枚セット", "耐水のステッカー。ノートパソコンや水筒に。", 600, 120, "goods", "むぎぼー", "ステッカー|シール|グッズ"),
    (7, "MUGIBO-NOTE-A5", "むぎぼーリングノートA5", "方眼80枚のリングノート", 480, 200, "stationery", "むぎぼー", "ノート|文房具"),
    (8, "MUGIBO-TEE-L", "むぎぼーTシャツ L", "綿100%の厚手のTシャツ。男女兼用。", 2900, 18, "apparel", "むぎぼー", "Tシャツ|半袖|グッズ"),
    (9, "KUMO-PEN-3C", "くも文具 3色ボールペン 0.5", "なめらかに書ける3色ボールペン", 380, 300, "stationery", "くも文具", "ボールペン|筆記具|文房具"),
    (10, "KUMO-INK-BLUE", "くも文具 万年筆インク 群青", "にじみにくい水性インク 50ml", 1320, 40, "stationery", "くも文具", "万年筆|インク|文房具"),
    (11, "KUMO-PLAN-2026", "くも文具 システム手帳 2026", "バイブルサイズ、月間と週間のリフィル付き", 4280, 12, "stationery", "くも文具", "手帳|スケジュール|カレンダー"),
    (12, "SORA-EARBUDS-1", "SORA ワイヤレスイヤホン Pro", "Noise-cancelling wireless earbuds, 30 hours of battery with case.", 12800, 35, "electronics", "SORA", "イヤホン|ノイズキャンセリング|Bluetooth"),
    (13, "SORA-BATT-10K", "SORA モバイルバッテリー 10000mAh", "USB-C入出力、スマートフォンを約2回充電", 3980, 60, "electronics", "SORA", "モバイルバッテリー|充電器|USB"),
    (14, "SORA-LAMP-DSK", "SORA LEDデスクライト", "明るさ5段階、タイマー付きの机の照明", 5480, 22, "electronics", "SORA", "デスクライト|照明|LED"),
    (15, "SORA-SPK-MINI", "SORA 防水スピーカー mini", "風呂場でも使えるBluetoothスピーカー", 4500, 0, "electronics", "SORA", "スピーカー|防水|Bluetooth"),
    (16, "HAYA-RUN-26", "ハヤテ ランニングシューズ 26.0cm", "軽くてよく弾む、毎日の練習のための靴", 8900, 14, "sports", "ハヤテ", "ランニングシューズ|スニーカー|靴|マラソン"),
    (17, "HAYA-RUN-27", "ハヤテ ランニングシューズ 27.0cm", "軽くてよく弾む、毎日の練習のための靴", 8900, 9, "sports", "ハヤテ", "ランニングシューズ|スニーカー|靴|マラソン"),
    (18, "HAYA-YOGA-6", "ハヤテ ヨガマット 6mm", "滑りにくい両面加工、収納バンド付き", 2980, 45, "sports", "ハヤテ", "ヨガマット|ストレッチ|運動"),
    (19, "HAYA-BTL-750", "ハヤテ ステンレスボトル 750ml", "保冷12時間、スポーツ用の真空ボトル", 3280, 38, "sports", "ハヤテ", "水筒|ボトル|保冷"),
    (20, "YAMA-TENT-2", "山音 ツーリングテント 2人用", "設営5分、前室の広い自立式テント", 24800, 6, "outdoor", "山音", "テント|キャンプ|登山"),
    (21, "YAMA-LANT-01", "山音 LEDランタン", "乾電池式、最大1000ルーメン", 3680, 27, "outdoor", "山音", "ランタン|照明|キャンプ|防災"),
    (22, "YAMA-RAIN-M", "山音 レインジャケット M", "小さく畳める防水透湿の雨具", 9800, 11, "outdoor", "山音", "レインウェア|雨具|登山|ジャケット"),
    (23, "CHAN-SEN-100", "茶の里 深蒸し煎茶 100g", "静岡の一番茶。まろやかでこくのある味わい。", 1080, 90, "food", "茶の里", "お茶|緑茶|煎茶|静岡"),
    (24, "CHAN-HOJI-80", "茶の里 ほうじ茶ティーバッグ 20包", "香ばしい焙煎、カフェインひかえめ", 540, 150, "food", "茶の里", "お茶|ほうじ茶|ティーバッグ"),
    (25, "CHAN-KYUSU-1", "茶の里 常滑焼の急須 300ml", "細かい茶こしの付いた朱泥の急須", 4200, 8, "kitchen", "茶の里", "急須|茶器|常滑焼|食器"),
    (26, "TABLE-BOWL-S", "有田焼の飯碗 小", "手描きの染付、軽くて持ちやすい茶碗", 1760, 33, "kitchen", "有田窯", "茶碗|飯碗|有田焼|食器"),
    (27, "TABLE-PAN-26", "鉄のフライパン 26cm", "IHでも使える、育てる鉄のフライパン", 5980, 17, "kitchen", "鍛冶屋", "フライパン|鉄|調理器具"),
    (28, "TABLE-KNIFE-S", "三徳包丁 165mm", "よく切れて研ぎやすい鋼の包丁", 7480, 10, "kitchen", "鍛冶屋", "包丁|三徳|調理器具"),
    (29, "BOOK-RUST-JA", "はじめてのシステムプログラミング", "手を動かして学ぶ入門書", 3300, 21, "books", "窓口書房", "本|プログラミング|入門"),
    (30, "GIFT-CARD-5K", "ギフトカード 5,000円分", "贈り物に。有効期限は5年。", 5000, 1000, "goods", "むぎぼー", "ギフト|プレゼント|商品券"),
];

pub fn products() -> Vec<Product> {
    ROWS.iter()
        .map(
            |&(id, sku, name, description, yen, stock, category, brand, keywords)| Product {
                id,
                sku: sku.into(),
                name: name.into(),
                description: description.into(),
                price_yen: yen,
                stock,
                category: Some(category.into()),
                brand: Some(brand.into()),
                image_url: (id == 1).then(|| "/assets/むぎぼーカレンダー.png".into()),
                refund_period_days: if category == "food" { 7 } else { 30 },
                keywords: keywords.split('|').map(str::to_owned).collect(),
            },
        )
        .collect()
}
