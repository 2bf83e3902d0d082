//! An assistant for a test: a fresh database, and a clock that stands at ten in
//! the morning.

use std::sync::Arc;

use innervoice::Settings;
use jiff::Timestamp;
use kit::{
    Caller, Context, Counter, Error, Store,
    approval::Card,
    context::NoClient,
    counter::Imported,
    sql::{Budget, Row},
    time::Clock,
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
    pub counter: Counter,
    pub context: Context,
    pub store: Arc<dyn Store>,
    _scratch: Scratch,
}

impl Assistant {
    async fn open(scratch: Scratch, settings: Settings) -> Self {
        let store: Arc<dyn Store> = Arc::new(scratch.database.clone());
        store.migrate(kit::lease::MIGRATIONS).await.unwrap();
        store.migrate(innervoice::MIGRATIONS).await.unwrap();
        let clock = Clock::fixed(TEN_O_CLOCK.parse().unwrap());
        Self {
            counter: innervoice::counter(settings, Arc::clone(&store)).unwrap(),
            context: Context::new(Caller::local_user(), clock, Arc::new(NoClient)),
            store,
            _scratch: scratch,
        }
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
    /// Calls a tool as the desk would: normalised, checked against the
    /// published schemas on the way in and out.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Error> {
        let definition = self.counter.tool(tool).unwrap();
        let mut normal = arguments;
        definition.normalised(&self.context, normal.as_object_mut().unwrap());
        check(definition, &normal)?;
        let answer = kit::testing::call(&self.counter, &self.context, tool, normal).await?;
        let schema = definition.output.as_ref().unwrap();
        let validator = jsonschema::validator_for(schema).unwrap();
        let broken: Vec<String> = validator
            .iter_errors(&answer)
            .map(|e| e.to_string())
            .collect();
        assert!(broken.is_empty(), "{tool}: {broken:?} in {answer:#}");
        Ok(answer)
    }

    pub async fn ok(&self, tool: &str, arguments: Value) -> Value {
        match self.call(tool, arguments.clone()).await {
            Ok(answer) => {
                assert_eq!(answer["status"], "ok", "{answer}");
                assert!(!answer["message"].as_str().unwrap().is_empty());
                answer
            }
            Err(error) => panic!("{tool} {arguments}: {error} {:?}", error.cause),
        }
    }

    pub async fn refused(&self, tool: &str, arguments: Value) -> Error {
        match self.call(tool, arguments.clone()).await {
            Ok(answer) => panic!("{tool} {arguments} was not refused: {answer:#}"),
            Err(error) => {
                assert!(!error.is_internal(), "{error} {:?}", error.cause);
                error
            }
        }
    }

    pub async fn code(&self, tool: &str, arguments: Value) -> String {
        self.refused(tool, arguments).await.code.into_owned()
    }

    /// What a person is shown before a call.
    pub async fn card(&self, tool: &str, arguments: Value) -> Result<Card, Error> {
        let definition = Arc::clone(self.counter.tool(tool).unwrap());
        let mut context = self.context.clone();
        context.zone = self.counter.time_zone.clone();
        let mut normal = arguments;
        definition.normalised(&context, normal.as_object_mut().unwrap());
        self.store
            .query(Budget::default(), move |sql| {
                (definition.card.as_ref().unwrap())(&context, sql, &normal)
            })
            .await
    }

    pub async fn sql(&self, statement: &'static str) -> Vec<Row> {
        self.store
            .transaction(Budget::default(), move |sql| sql.query(statement, &[]))
            .await
            .unwrap()
    }

    pub async fn count(&self, what: &'static str) -> i64 {
        let statement: &'static str = format!("SELECT COUNT(*) FROM {what}").leak();
        self.sql(statement).await[0].int(0).unwrap()
    }

    pub fn set_clock(&self, time: &str) {
        self.context.clock.set(time.parse::<Timestamp>().unwrap());
    }

    pub async fn import(&self, name: &str, text: &str) -> Result<Imported, Error> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        let import = self.counter.import.as_ref().unwrap();
        import.import(&self.context, &file).await
    }

    pub async fn know_people(&self) {
        self.import("contacts.vcf", CONTACTS).await.unwrap();
    }
}

/// What the desk does with a broken schema rule: the tool's own code, if it has one.
fn check(tool: &kit::Tool, arguments: &Value) -> Result<(), Error> {
    let validator = jsonschema::validator_for(&tool.input).unwrap();
    let Some(broken) = validator.iter_errors(arguments).next() else {
        return Ok(());
    };
    let keyword = broken.kind().keyword();
    let path = broken.instance_path().to_string();
    let field = path.split('/').nth(1).unwrap_or_default();
    let rule = tool
        .rules
        .iter()
        .find(|rule| rule.field == field && (rule.keyword == keyword || rule.keyword == "*"));
    Err(match rule {
        Some(rule) => Error::new(rule.code, rule.message),
        None => Error::new(kit::error::INVALID_ARGUMENT, broken.to_string()),
    })
}
