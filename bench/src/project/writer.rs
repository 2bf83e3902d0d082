//! Text as people write it in projects: a few thousand words, English and
//! Japanese, some of them much more frequent than others.

/// What a file has, about.
pub const SIZE: usize = 4096;

const SYLLABLES: [&str; 16] = [
    "an", "ber", "con", "de", "est", "fi", "gra", "in", "lo", "ment", "or", "pre", "ra", "sta",
    "ti", "ver",
];
const KANJI: &str =
    "認証検索設計画面通知課金在庫予約監視確認更新削除登録権限管理仕様要件定義実装試験評価";
const ENDINGS: [&str; 7] = ["", "する", "の", "を", "が", "について", "機能"];

pub struct Writer {
    words: Vec<String>,
    seed: u64,
}

impl Writer {
    pub fn new() -> Self {
        let mut writer = Self {
            words: Vec::new(),
            seed: 7,
        };
        let kanji: Vec<char> = KANJI.chars().collect();
        for number in 0..3000 {
            let mut word = String::new();
            if number % 3 == 0 {
                word.extend([writer.pick(&kanji), writer.pick(&kanji)]);
                word.push_str(writer.pick(&ENDINGS));
            } else {
                for _ in 0..2 + writer.next() % 3 {
                    word.push_str(writer.pick(&SYLLABLES));
                }
            }
            writer.words.push(word);
        }
        writer
    }

    fn next(&mut self) -> usize {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.next() % from.len()]
    }

    /// About 4 KB with two words that no other number has.
    pub fn text(&mut self, number: usize) -> String {
        let mut text = format!("needle{number}x 目印{number}番\n\n");
        while text.len() < SIZE {
            let common = [60, 600, 3000][self.next() % 3];
            let word = self.next() % common;
            text.push_str(&self.words[word]);
            text.push(if self.next().is_multiple_of(12) {
                '\n'
            } else {
                ' '
            });
        }
        text.push('\n');
        text
    }
}
