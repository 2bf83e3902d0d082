//! An assistant for a test: a fresh database, and a clock that stands at ten in
//! the morning.

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};

use innervoice::Settings;
use kit::{
    Error, Store,
    counter::{ErrorShape, Imported},
    testing::Harness,
};
use serde_json::Value;
use store::testing::Scratch;

pub const TEN_O_CLOCK: &str = "2026-11-15T10:00:00+09:00";

pub const CONTACTS: &str = "BEGIN:VCARD\nVERSION:3.0\nUID:1\nN:田中;太郎;;;\nFN:田中 太郎\n\
    X-PHONETIC-LAST-NAME:たなか\nX-PHONETIC-FIRST-NAME:たろう\n\
    EMAIL:taro@example.com\nTEL;TYPE=CELL:090-1111-2222\nEND:VCARD\n\
    BEGIN:VCARD\nVERSION:3.0\nUID:2\nN:田中;花子;;;\nFN:田中 花子\nEMAIL:hanako@example.com\nEND:VCARD\n\
    BEGIN:VCARD\nVERSION:4.0\nUID:3\nFN:Ann Lee\nN:Lee;Ann;;;\nNICKNAME:Annie\nTEL:+15550100222\nEND:VCARD\n\
    BEGIN:VCARD\nVERSION:4.0\nUID:4\nFN:ギャラリー・青空\nEMAIL:info@aozora.example.com\nEND:VCARD\n";

pub struct Assistant {
    harness: Harness,
    _scratch: Scratch,
}

impl Deref for Assistant {
    type Target = Harness;

    fn deref(&self) -> &Harness {
        &self.harness
    }
}

impl DerefMut for Assistant {
    fn deref_mut(&mut self) -> &mut Harness {
        &mut self.harness
    }
}

/// One of each engine.
pub async fn both() -> Vec<Assistant> {
    let mut all = Vec::new();
    for scratch in store::testing::both().await {
        all.push(Assistant::open(scratch, Settings::default()).await);
    }
    all
}

/// One, for what has nothing to do with the engine.
pub async fn one() -> Assistant {
    with(Settings::default()).await
}

pub async fn with(settings: Settings) -> Assistant {
    Assistant::open(store::testing::sqlite().await, settings).await
}

impl Assistant {
    async fn open(scratch: Scratch, settings: Settings) -> Self {
        let store: Arc<dyn Store> = Arc::new(scratch.database.clone());
        store.migrate(kit::lease::MIGRATIONS).await.unwrap();
        store.migrate(kit::hold::MIGRATIONS).await.unwrap();
        store.migrate(innervoice::MIGRATIONS).await.unwrap();
        let counter = innervoice::counter(settings, store).unwrap();
        Self {
            harness: Harness::new(counter, TEN_O_CLOCK),
            _scratch: scratch,
        }
    }

    /// [`Harness::ok`], with something to read out.
    pub async fn ok(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.harness.ok(tool, arguments).await;
        assert_eq!(answer["status"], "ok", "{answer}");
        assert!(!answer["message"].as_str().unwrap().is_empty());
        answer
    }

    pub async fn import(&self, name: &str, text: &str) -> Result<Imported, Error> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        self.harness.import(&file).await
    }

    /// The message of an answer or of a refusal, to be read out.
    pub async fn says(&self, tool: &str, arguments: Value) -> String {
        let message = match self.harness.call(tool, arguments).await {
            Ok(answer) => answer["message"].clone(),
            Err(error) => {
                let error = error.in_language(self.harness.context.language);
                error.shown(ErrorShape::Flat).1["message"].clone()
            }
        };
        message.as_str().unwrap().to_owned()
    }

    pub async fn know_people(&self) {
        self.import("contacts.vcf", CONTACTS).await.unwrap();
    }
}
