//! What the made-up shop sells and how it praises it. A `+` is the seam of a
//! compound, which nobody sees; a `_` is a space.

pub const THINGS: [(&str, &str); 12] = [
    (
        "キッチン",
        "マグ+カップ 茶碗 急須 包丁 土鍋 フライ+パン 弁当+箱 保存+容器 計量+スプーン コーヒー+ドリッパー \
         箸置き 水筒 耐熱+グラス 蒸し器 まな板 Travel_Mug Chef_Knife Espresso_Maker",
    ),
    (
        "ファッション",
        "トート+バッグ エコ+バッグ リュック+サック 折りたたみ+傘 ランニング+シューズ 腕+時計 靴下 帽子 手袋 \
         パーカー Tシャツ マフラー サンダル レイン+コート 革+財布 Backpack Leather_Wallet",
    ),
    (
        "家電",
        "ワイヤレス+イヤホン モバイル+バッテリー 目覚まし+時計 置き+時計 炊飯+器 電気+ケトル 空気+清浄機 \
         掃除機 ドライヤー 加湿器 デスク+ライト Bluetooth+スピーカー USB+ハブ 充電+ケーブル \
         Mechanical_Keyboard Wireless_Earbuds Desk_Lamp Portable_Monitor",
    ),
    (
        "食品",
        "コーヒー+豆 抹茶+チョコレート カレー+ルウ パスタ+ソース オリーブ+オイル 緑茶 紅茶 味噌 醤油 梅干し \
         はちみつ せんべい 羊羹 玄米 バウムクーヘン ティー+バッグ Maple_Syrup Granola",
    ),
    (
        "文房具",
        "ボール+ペン 万年筆 手帳 付箋 消しゴム はさみ 筆箱 ノート クリア+ファイル マスキング+テープ \
         卓上+カレンダー 壁掛け+カレンダー ポスト+カード Notebook Fountain_Pen",
    ),
    (
        "スポーツ",
        "ヨガ+マット ダンベル サッカー+ボール テニス+ラケット 卓球+ラケット 縄跳び 水着 登山+靴 釣り竿 \
         ゴルフ+クラブ 自転車用+ヘルメット Running_Shorts Resistance_Band",
    ),
    (
        "アウトドア",
        "テント 寝袋 クーラー+ボックス 焚き火+台 キャンプ+チェア ランタン 双眼鏡 飯盒 Camping_Lantern \
         Water_Bottle",
    ),
    (
        "インテリア",
        "枕+カバー 掛け+布団 ラグ+マット カーテン 本棚 観葉+植物 花瓶 植木鉢 じょうろ 収納+ボックス \
         ゲーミング+チェア Floor_Cushion Picture_Frame",
    ),
    (
        "コスメ",
        "シャンプー コンディショナー 化粧+水 日焼け止め+クリーム ハンド+ソープ 歯+ブラシ 香水 口紅 \
         リップ+クリーム Hand_Cream Perfume",
    ),
    (
        "ホビー",
        "キー+ホルダー ぬいぐるみ ジグソー+パズル プラ+モデル トレーディング+カード 缶+バッジ 写真集 絵本 \
         積み木 知育+玩具 ステッカー+セット Puzzle_Cube",
    ),
    (
        "ペット用品",
        "犬用+ベッド 猫砂 キャット+タワー 猫+じゃらし 首輪 ペット+シーツ 水槽 Cat_Tree Dog_Leash",
    ),
    (
        "DIY・工具",
        "電動+ドライバー 工具+箱 洗車+スポンジ ドライブ+レコーダー スマホ+ホルダー 巻き尺 脚立 \
         Cordless_Drill Socket_Wrench",
    ),
];

pub const TRAITS: &str = "軽量 大容量 北欧風 国産 手作り 有機 無添加 防水 折りたたみ おしゃれな かわいい シンプル \
     プレミアム 業務用 子供用 メンズ レディース 限定 新生活 ギフト 抗菌 静音 耐熱 木製 ステンレス 本革 陶器 \
     チタン 竹製 充電式 薄型 ミニ 高級 伝統工芸 日本製 オーガニックコットン";

pub const COLOURS: &str = "ブラック ホワイト レッド ネイビー グリーン ベージュ ピンク 藍色 桜色 グレー イエロー Black Silver";

pub const SIZES: &str = "S M L XL 500ml 1L 2個セット 10枚入り 3点セット A4 A5 B6 26cm 20本 1kg 200g 2026 2027年版 \
     15インチ USB-C 10000mAh";

pub const PHRASES: &str = "毎日の暮らしに馴染むデザインです 贈り物にも喜ばれています 軽くて持ち運びに便利です \
     職人がひとつひとつ丁寧に仕上げました お手入れも簡単です 長く使える丈夫な作りです 季節を問わずお使いいただけます \
     環境に優しい素材を使用しています 初めての方にもおすすめです 人気の定番商品です 数量限定での販売となります \
     届いたその日から使えます 一年間の保証付きです 国内工場で生産しています 滑りにくい加工を施しました \
     収納に困らないコンパクトサイズです";

/// What brands are made of: kana, kanji, Latin syllables.
pub const BRANDS: [&str; 3] = [
    "ア イ カ キ コ サ シ ス タ テ ト ナ ニ ノ ハ ヒ フ マ ミ モ ヤ ユ ラ リ ル ロ ワ バ ド グ",
    "山 川 森 田 松 竹 梅 白 青 星 月 花 鳥 風 光 音 里 浜 丘 原 屋 堂 舎 窯 工房 商店 本舗 庵",
    "ka to no ri mu gi so la ven nor lux el ar mo den fi ta zen ko mi ra sta bel on",
];
