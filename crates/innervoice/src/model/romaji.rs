//! Readings of names in one spelling of Latin letters: `Satō`, `Satou`, `サトウ` and
//! `佐藤` become `sato`.

/// The reading of a name in kana or Latin letters.
pub fn reading(name: &str) -> Option<String> {
    let sound = kit::text::sound(name)?;
    (!sound.is_empty()).then(|| without_long_h(&sound))
}

/// `satoh` and `ohno` are `sato` and `ono`: an h behind an o only makes it long.
fn without_long_h(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let is_vowel = |c: &char| "aiueoy".contains(*c);
    let kept = letters.iter().enumerate().filter(|(at, letter)| {
        let follows_o = *at > 0 && letters.get(at - 1) == Some(&'o');
        let before_vowel = letters.get(at + 1).is_some_and(is_vowel);
        **letter != 'h' || !follows_o || before_vowel
    });
    kept.map(|(_, letter)| *letter).collect()
}

/// Whether `reading` is how people read this family name.
pub fn is_read(family_name: &str, reading: &str) -> bool {
    FAMILY_NAMES
        .split(", ")
        .filter_map(|row| row.split_once(' '))
        .any(|(name, readings)| {
            name == family_name
                && readings
                    .split('/')
                    .any(|known| self::reading(known).as_deref() == Some(reading))
        })
}

/// Common family names and their readings, for contacts without one.
const FAMILY_NAMES: &str = "佐藤 sato, 鈴木 suzuki, 高橋 takahashi, 田中 tanaka, 伊藤 ito, 渡辺 watanabe, \
    渡部 watanabe/watabe, 山本 yamamoto, 中村 nakamura, 小林 kobayashi, 加藤 kato, 吉田 yoshida, \
    山田 yamada, 佐々木 sasaki, 山口 yamaguchi, 松本 matsumoto, 井上 inoue, 木村 kimura, 林 hayashi, \
    斎藤 saito, 斉藤 saito, 清水 shimizu, 山崎 yamazaki/yamasaki, 森 mori, 池田 ikeda, 橋本 hashimoto, \
    阿部 abe, 石川 ishikawa, 山下 yamashita, 中島 nakajima/nakashima, 石井 ishii, 小川 ogawa, \
    前田 maeda, 岡田 okada, 長谷川 hasegawa, 藤田 fujita, 後藤 goto, 近藤 kondo, 村上 murakami, \
    遠藤 endo, 青木 aoki, 坂本 sakamoto, 福田 fukuda, 太田 ota, 西村 nishimura, 藤井 fujii, \
    金子 kaneko, 岡本 okamoto, 藤原 fujiwara, 三浦 miura, 中野 nakano, 中川 nakagawa, 原田 harada, \
    松田 matsuda, 竹内 takeuchi, 小野 ono, 田村 tamura, 中山 nakayama, 和田 wada, 石田 ishida, \
    森田 morita, 上田 ueda, 原 hara, 内田 uchida, 柴田 shibata, 酒井 sakai, 宮崎 miyazaki, \
    横山 yokoyama, 高木 takagi, 安藤 ando, 宮本 miyamoto, 大野 ono, 小島 kojima, 工藤 kudo, \
    谷口 taniguchi, 今井 imai, 高田 takada/takata, 増田 masuda, 丸山 maruyama, 杉山 sugiyama, \
    村田 murata, 大塚 otsuka, 新井 arai, 小山 koyama/oyama, 平野 hirano, 藤本 fujimoto, 河野 kono/kawano, \
    上野 ueno, 野口 noguchi, 武田 takeda, 松井 matsui, 千葉 chiba, 岩崎 iwasaki, 菅原 sugawara, \
    木下 kinoshita, 久保 kubo, 佐野 sano, 野村 nomura, 松尾 matsuo, 市川 ichikawa, 菊地 kikuchi, \
    菊池 kikuchi, 杉本 sugimoto, 古川 furukawa, 大西 onishi, 島田 shimada, 水野 mizuno, 桜井 sakurai, \
    高野 takano, 渡 watari, 西田 nishida, 吉川 yoshikawa, 五十嵐 igarashi, 山内 yamauchi, 川口 kawaguchi, \
    西川 nishikawa, 飯田 iida, 北村 kitamura, 安田 yasuda, 中田 nakata/nakada, 東 higashi/azuma, \
    川崎 kawasaki, 田口 taguchi, 川上 kawakami, 服部 hattori, 矢野 yano, 久保田 kubota, 土屋 tsuchiya, \
    荒木 araki, 関 seki, 浜田 hamada, 吉村 yoshimura, 大島 oshima, 小松 komatsu, 中西 nakanishi, \
    永井 nagai, 望月 mochizuki, 本田 honda, 辻 tsuji, 星野 hoshino, 松岡 matsuoka, 大橋 ohashi, \
    森本 morimoto, 片山 katayama, 樋口 higuchi, 尾崎 ozaki, 秋山 akiyama, 松下 matsushita, 馬場 baba, \
    吉岡 yoshioka, 岡 oka, 堀 hori, 東野 higashino, 黒田 kuroda, 西山 nishiyama, 早川 hayakawa";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_reading() {
        for names in [
            "サトウ sato satou satō satoh",
            "オオノ ono oono ohno ōno",
            "シンイチ shinichi sinichi",
            "ジュンコ junko jyunko zyunko",
            "ショウタ shota syouta shouta",
            "ホンマ honma",
            "タツヤ tatsuya tatuya",
            "オオハシ ohashi oohashi",
        ] {
            let readings: Vec<_> = names.split(' ').map(reading).collect();
            assert!(readings[0].is_some(), "{names}");
            assert!(
                readings.iter().all(|one| *one == readings[0]),
                "{names}: {readings:?}"
            );
        }
        for name in ["田中", "田中taro", "", "タナカ太郎"] {
            assert_eq!(reading(name), None, "{name}");
        }
    }

    #[test]
    fn family_names_have_readings() {
        let reads = |name, latin: &str| is_read(name, &reading(latin).unwrap());
        assert!(reads("田中", "tanaka") && reads("河野", "kawano") && reads("辻", "tuji"));
        assert!(!reads("田中", "nakata") && !reads("", "tanaka"));
    }
}
