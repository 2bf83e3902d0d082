//! A generated catalogue in the style of Japanese shops, with realistic word
//! frequencies.

use search::Document;

/// A small random number generator, the same on every machine.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Returns small numbers far more often than large ones.
    pub fn uneven(&mut self, end: usize) -> usize {
        let share = self.next() as f64 / (1_u64 << 53) as f64;
        ((end as f64 + 1.0).powf(share) - 1.0) as usize
    }

    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    pub fn often<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.uneven(of.len())]
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

#[rustfmt::skip]
pub const CATEGORIES: &[&str] = &[
    "キッチン", "ファッション", "家電", "食品", "文房具", "スポーツ", "インテリア", "コスメ",
    "ホビー", "ペット用品", "ベビー", "ガーデニング", "本・雑誌", "DIY・工具", "カー用品",
];

#[rustfmt::skip]
pub const THINGS: &[&str] = &[
    "カレンダー", "キーホルダー", "ぬいぐるみ", "マグカップ", "茶碗", "急須", "包丁", "土鍋",
    "水筒", "帽子", "靴下", "万年筆", "手帳", "付箋", "味噌", "梅干し", "はちみつ", "せんべい",
    "ヨガマット", "ダンベル", "トートバッグ", "エコバッグ", "ティーバッグ", "置き時計", "腕時計",
    "目覚まし時計", "ボールペン", "サッカーボール", "保存容器", "モバイルバッテリー",
    "テニスラケット", "計量スプーン", "折りたたみ傘", "コーヒー豆", "USBハブ", "緑茶",
    "抹茶チョコレート", "箸置き", "弁当箱", "フライパン", "コーヒードリッパー", "リュックサック",
    "ランニングシューズ", "自転車用ヘルメット", "ワイヤレスイヤホン", "Bluetoothスピーカー",
    "キーボード", "デスクライト", "Tシャツ", "パーカー", "マフラー", "サンダル", "クリアファイル",
    "マスキングテープ", "ステッカーセット", "缶バッジ", "ポストカード", "消しゴム", "はさみ",
    "筆箱", "ノート", "カレールウ", "炊飯器", "電気ケトル", "空気清浄機", "掃除機", "ドライヤー",
    "シャンプー", "コンディショナー", "化粧水", "日焼け止めクリーム", "ハンドソープ", "歯ブラシ",
    "タオルセット", "枕カバー", "掛け布団", "カーテン", "ラグマット", "観葉植物", "植木鉢",
    "じょうろ", "電動ドライバー", "工具箱", "洗車スポンジ", "ドライブレコーダー", "スマホホルダー",
    "犬用ベッド", "猫砂", "キャットタワー", "哺乳瓶", "ベビーカー", "知育玩具", "積み木",
    "ジグソーパズル", "プラモデル", "トレーディングカード", "写真集", "絵本", "レシピブック",
    "醤油", "オリーブオイル", "パスタソース", "玄米", "ミネラルウォーター", "紅茶アールグレイ",
    "バウムクーヘン", "羊羹", "煎餅詰め合わせ", "ゲーミングチェア", "モニターアーム",
    "ノートパソコンスタンド", "タブレットケース", "充電ケーブル", "マウスパッド",
    "Mechanical Keyboard", "Wireless Earbuds", "Desk Lamp", "Travel Mug", "Phone Stand",
    "Backpack", "Water Bottle", "Notebook", "Running Shorts", "Camping Lantern", "寝袋", "テント",
    "クーラーボックス", "登山靴", "釣り竿", "水着", "ゴルフクラブ", "縄跳び", "卓球ラケット",
];

#[rustfmt::skip]
pub const TRAITS: &[&str] = &[
    "軽量", "大容量", "北欧風", "国産", "手作り", "有機", "無添加", "防水", "折りたたみ",
    "おしゃれな", "かわいい", "シンプル", "プレミアム", "業務用", "子供用", "メンズ", "レディース",
    "限定", "新生活", "ギフト", "抗菌", "静音", "耐熱", "木製", "ステンレス", "本革",
    "オーガニックコットン", "陶器", "チタン", "竹製", "充電式", "ワイヤレス", "薄型", "ミニ",
    "高級", "伝統工芸", "職人仕上げ", "日本製",
];

#[rustfmt::skip]
pub const COLOURS: &[&str] = &[
    "ブラック", "ホワイト", "レッド", "ネイビー", "グリーン", "ベージュ", "ピンク", "藍色", "桜色",
    "グレー", "イエロー", "ターコイズ", "Black", "Silver",
];

#[rustfmt::skip]
const SIZES: &[&str] = &[
    "S", "M", "L", "XL", "500ml", "1L", "2個セット", "10枚入り", "3点セット", "A4", "A5", "B6",
    "26cm", "20本", "1kg", "200g", "2027年版", "2026", "第2版", "15インチ", "USB-C", "10000mAh",
    "4K",
];

const PHRASES: &[&str] = &[
    "毎日の暮らしに馴染むデザインです",
    "贈り物にも喜ばれています",
    "軽くて持ち運びに便利です",
    "職人がひとつひとつ丁寧に仕上げました",
    "お手入れも簡単です",
    "長く使える丈夫な作り",
    "季節を問わずお使いいただけます",
    "環境に優しい素材を使用しています",
    "初めての方にもおすすめ",
    "人気の定番商品です",
    "数量限定での販売となります",
    "電子レンジ・食洗機対応",
    "届いたその日から使えるセット",
    "一年間の保証付き",
    "国内工場で生産しています",
    "滑りにくい加工を施しました",
    "収納に困らないコンパクトサイズ",
    "香り豊かな味わい",
];

const KANA: &[&str] = &[
    "ア", "イ", "カ", "キ", "コ", "サ", "シ", "ス", "タ", "テ", "ト", "ナ", "ニ", "ノ", "ハ", "ヒ",
    "フ", "マ", "ミ", "モ", "ヤ", "ユ", "ラ", "リ", "ル", "ロ", "ワ", "ン", "ー", "バ", "ド", "グ",
];
const KANJI: &[&str] = &[
    "山", "川", "森", "田", "松", "竹", "梅", "白", "青", "星", "月", "花", "鳥", "風", "光", "音",
    "里", "浜", "丘", "原", "屋", "堂", "舎", "窯", "工房", "商店", "本舗", "庵",
];
const SYLLABLES: &[&str] = &[
    "ka", "to", "no", "ri", "mu", "gi", "so", "la", "ven", "nor", "lux", "el", "ar", "mo", "den",
    "fi", "ta", "zen", "ko", "mi", "ra", "sta", "bel", "on",
];

/// Some thousand brands, in kana, kanji and Latin letters.
pub fn brands() -> Vec<String> {
    let mut dice = Dice::new(7);
    let mut brands: Vec<String> = [
        "むぎぼー",
        "茶の里",
        "HASHIRU",
        "山音",
        "トキワ",
        "Nordlicht",
    ]
    .map(str::to_owned)
    .into();
    while brands.len() < 4_000 {
        let (parts, letters): (&[&str], usize) = match dice.below(3) {
            0 => (KANA, 3 + dice.below(3)),
            1 => (KANJI, 2 + dice.below(2)),
            _ => (SYLLABLES, 2 + dice.below(2)),
        };
        let name: String = (0..letters).map(|_| dice.one(parts)).collect();
        if !name.starts_with('ー') && !brands.contains(&name) {
            brands.push(name);
        }
    }
    brands
}

pub fn product(id: i64, brands: &[String]) -> Document {
    let mut dice = Dice::new(id as u64 + 1_000_003);
    let thing_at = dice.uneven(THINGS.len());
    let thing = THINGS[(thing_at * 37 + 5) % THINGS.len()];
    let brand = brands[dice.uneven(brands.len())].clone();
    let mut name = brand.clone();
    // Brands in kana often have no space before the name.
    if !dice.chance(15) {
        name.push(' ');
    }
    for _ in 0..dice.below(3) {
        name.push_str(dice.often(TRAITS));
        if dice.chance(60) {
            name.push(' ');
        }
    }
    name.push_str(thing);
    if dice.chance(50) {
        name.push(' ');
        name.push_str(dice.often(COLOURS));
    }
    if dice.chance(60) {
        name.push(' ');
        name.push_str(dice.often(SIZES));
    }
    if dice.chance(20) {
        name.push_str(&format!(" {}", model(id)));
    }
    let mut description = format!("{brand}の{thing}。");
    for _ in 0..1 + dice.below(3) {
        description.push_str(dice.one(PHRASES));
        description.push('。');
    }
    Document {
        id,
        sku: format!("SKU-{id:07}"),
        name,
        description,
        category: Some(
            CATEGORIES[(thing_at * 37 + 5) % THINGS.len() % CATEGORIES.len()].to_owned(),
        ),
        brand: Some(brand),
        keywords: if dice.chance(30) {
            vec![dice.one(TRAITS).to_owned()]
        } else {
            Vec::new()
        },
        price: 100 + dice.below(500) as i64 * 20,
        in_stock: !dice.chance(10),
        ..Document::default()
    }
}

pub fn model(id: i64) -> String {
    let mut dice = Dice::new(id as u64 + 77);
    let letters = ["WH", "XR", "KP", "TZ", "DL", "MB", "SC", "QN"];
    format!(
        "{}-{}{}{}",
        dice.one(&letters),
        100 + dice.below(9900),
        ["X", "M", "S", "EX", "MK"][dice.below(5)],
        dice.below(10)
    )
}
