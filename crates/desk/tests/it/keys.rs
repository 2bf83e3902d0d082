//! The life of a key.

use desk::{
    key_change,
    keys::{self, NewKey, StoredKey},
    pipeline::Refusal,
    state::OpenState,
    stations::identify::{Credentials, Unidentified},
};
use kit::{Caller, Error};
use serde_json::json;

use crate::{
    counter::NAME,
    office::{NOW, Office},
};

fn named(name: &str) -> NewKey {
    NewKey {
        name: name.into(),
        ..NewKey::default()
    }
}

impl Office {
    async fn state(&self) -> &OpenState {
        self.desk.state.get().await.unwrap()
    }

    async fn create(&self, wanted: NewKey) -> Result<(StoredKey, String), Error> {
        key_change::create(&self.desk, Caller::local_user(), wanted).await
    }

    async fn rotate(&self, key: &str, grace_ms: i64) -> Result<(StoredKey, String), Error> {
        key_change::rotate(&self.desk, Caller::local_user(), key, grace_ms).await
    }

    async fn revoke(&self, key: &str) -> Result<StoredKey, Error> {
        key_change::revoke(&self.desk, Caller::local_user(), key).await
    }

    /// Whether a call with this key gets in.
    async fn opens(&self, key: &str) -> bool {
        let visitor = self.visitor(Credentials::Key(key.into()));
        match visitor.admitted().await {
            Ok(_) => true,
            Err(refusal) => {
                assert_eq!(refusal, Refusal::InvalidKey);
                false
            }
        }
    }

    /// As the desk does in the background.
    async fn notice_changes(&self) {
        self.desk.keyring.refresh().await.unwrap();
    }
}

#[tokio::test]
async fn names_of_keys_are_unique_while_they_are_valid() {
    let office = Office::open(|_| {}).await;
    let expiring = NewKey {
        expires_at: Some(NOW + 1_000),
        ..named(" phone ")
    };
    let (kept, key) = office.create(expiring).await.unwrap();
    assert_eq!(kept.name, "phone");
    assert_eq!(keys::id_of(&key), Some(kept.id.as_str()));
    let taken = office.create(named("phone")).await.unwrap_err();
    assert_eq!(taken.code, "KEY_NAME_TAKEN");
    office.pass(1_000);
    let (second, _) = office.create(named("phone")).await.unwrap();
    office.revoke("phone").await.unwrap();
    let (third, _) = office.create(named("phone")).await.unwrap();
    let listed = keys::list(office.state().await).await.unwrap();
    assert_eq!(listed.len(), 3);
    let revoked: Vec<_> = listed.iter().filter(|it| it.revoked_at.is_some()).collect();
    assert_eq!(revoked.len(), 1);
    assert_eq!(revoked[0].id, second.id);
    assert_ne!(third.id, second.id);
}

#[tokio::test]
async fn misleading_names_and_past_ends_are_refused() {
    let office = Office::open(|_| {}).await;
    let long = "x".repeat(101);
    for name in ["", " ", "console", "Key:a", "a\nb", long.as_str()] {
        let refused = office.create(named(name)).await.unwrap_err();
        assert_eq!(refused.code, "INVALID_KEY_NAME", "{name:?}");
    }
    office.create(named(&"x".repeat(100))).await.unwrap();
    let past = NewKey {
        expires_at: Some(NOW),
        ..named("late")
    };
    let refused = office.create(past).await.unwrap_err();
    assert_eq!(refused.code, "ALREADY_EXPIRED");
}

#[tokio::test]
async fn an_expired_key_opens_nothing_and_ends_what_was_opened_with_it() {
    let office = Office::open(|_| {}).await;
    let wanted = NewKey {
        expires_at: Some(NOW + 1_000),
        ..named("phone")
    };
    let (_, key) = office.create(wanted).await.unwrap();
    let visitor = office.visitor(Credentials::Key(key.clone()));
    let revoked = visitor.admitted().await.unwrap().who.revoked();
    office.pass(999);
    office.desk.keyring.sweep();
    assert!(office.opens(&key).await);
    assert!(!revoked.is_cancelled());
    office.pass(1);
    assert!(!office.opens(&key).await);
    assert!(!revoked.is_cancelled());
    office.desk.keyring.sweep();
    assert!(revoked.is_cancelled());
}

#[tokio::test]
async fn a_rotated_key_works_on_for_a_while_and_a_revoked_one_ends_at_once() {
    let office = Office::open(|_| {}).await;
    let (kept, old) = office.create(named("phone")).await.unwrap();
    let visitor = office.visitor(Credentials::Key(old.clone()));
    let opened_with_old = visitor.admitted().await.unwrap().who.revoked();
    let rotated = office.rotate("phone", 5_000).await;
    let (again, new) = rotated.unwrap();
    assert_eq!(again.id, kept.id);
    assert_ne!(new, old);
    office.notice_changes().await;
    assert!(office.opens(&new).await);
    office.pass(4_999);
    assert!(office.opens(&old).await);
    assert!(!opened_with_old.is_cancelled());
    office.pass(1);
    assert!(!office.opens(&old).await);
    office.desk.keyring.sweep();
    assert!(opened_with_old.is_cancelled());
    assert!(office.opens(&new).await);
    let visitor = office.visitor(Credentials::Key(new.clone()));
    let opened_with_new = visitor.admitted().await.unwrap().who.revoked();
    // By the key itself, which contains its id.
    let revoked = office.revoke(&new).await;
    assert_eq!(revoked.unwrap().revoked_at, Some(office.now()));
    office.notice_changes().await;
    assert!(!office.opens(&new).await);
    assert!(opened_with_new.is_cancelled());
    let refused = office.rotate(&kept.id, 0).await;
    assert_eq!(refused.unwrap_err().code, "KEY_REVOKED");
    let unknown = office.revoke("phone").await;
    assert_eq!(unknown.unwrap_err().code, "KEY_NOT_FOUND");
}

#[tokio::test]
async fn a_key_for_a_file_opens_that_file_alone() {
    let office = Office::open(|_| {}).await;
    let wanted = NewKey {
        counters: vec![NAME.into()],
        file: Some("calendar.ics".into()),
        ..named("calendar")
    };
    let (kept, key) = office.create(wanted).await.unwrap();
    let path = format!("/files/{NAME}/{key}/calendar.ics");
    assert_eq!(kept.path(&key), Some(path));
    let keyring = &office.desk.keyring;
    let open = async |counter, file| {
        let found = keyring.identify_for_file(&key, counter, file).await;
        found.map(|who| who.caller.name.to_string())
    };
    assert_eq!(open(NAME, "calendar.ics").await, Ok("calendar".into()));
    let other_file = open(NAME, "other.ics").await;
    assert_eq!(other_file, Err(Unidentified::InvalidKey));
    let other_counter = open("rooms", "calendar.ics").await;
    let own = Caller::with_key(&kept.id, "calendar");
    assert_eq!(other_counter, Err(Unidentified::OutOfScope(own)));
    assert!(!office.opens(&key).await);
    let credentials = Credentials::Key(key.clone());
    assert_eq!(
        keyring.admit(&credentials).await,
        Err(Unidentified::InvalidKey)
    );
    // A key for calls opens no file.
    let (_, usual) = office.create(named("usual")).await.unwrap();
    let refused = keyring
        .identify_for_file(&usual, NAME, "calendar.ics")
        .await;
    assert_eq!(refused.unwrap_err(), Unidentified::InvalidKey);
}

#[tokio::test]
async fn the_keyring_admits_valid_keys_of_any_counter() {
    let office = Office::open(|_| {}).await;
    let wanted = NewKey {
        counters: vec!["rooms".into()],
        expires_at: Some(NOW + 1_000),
        ..named("phone")
    };
    let (_, key) = office.create(wanted).await.unwrap();
    let keyring = &office.desk.keyring;
    let key = Credentials::Key(key);
    assert!(!keyring.recognises(&key), "it was not read yet");
    assert_eq!(keyring.admit(&key).await, Ok(()));
    assert!(keyring.recognises(&key));
    assert!(!keyring.recognises(&Credentials::LocalUser));
    let wrong = Credentials::Key("wrong".into());
    assert!(!keyring.recognises(&wrong));
    assert_eq!(keyring.admit(&wrong).await, Err(Unidentified::InvalidKey));
    for (key_required, admitted) in [(false, Ok(())), (true, Err(Unidentified::InvalidKey))] {
        let nothing = Credentials::Nothing { key_required };
        assert_eq!(keyring.admit(&nothing).await, admitted);
    }
    assert_eq!(keyring.admit(&Credentials::Console).await, Ok(()));
    office.pass(1_000);
    assert_eq!(keyring.admit(&key).await, Err(Unidentified::InvalidKey));
}

#[tokio::test]
async fn the_last_use_of_a_key_is_noted() {
    let office = Office::open(|_| {}).await;
    let (kept, key) = office.create(named("phone")).await.unwrap();
    let (_, _unused) = office.create(named("tablet")).await.unwrap();
    office.pass(5);
    assert!(office.opens(&key).await);
    let keyring = &office.desk.keyring;
    let used = keyring.used_since(NOW + 4);
    assert_eq!(used, [(kept.id.clone(), NOW + 5)]);
    assert!(keyring.used_since(NOW + 5).is_empty());
    keys::note_use(office.state().await, used).await.unwrap();
    let listed = keys::list(office.state().await).await.unwrap();
    let times: Vec<_> = listed
        .iter()
        .map(|it| (&*it.name, it.last_used_at))
        .collect();
    assert!(times.contains(&("phone", Some(NOW + 5))), "{times:?}");
    assert!(times.contains(&("tablet", None)), "{times:?}");
}

#[tokio::test]
async fn the_first_key_is_created_only_once() {
    let office = Office::open(|_| {}).await;
    let first = key_change::create_first(&office.desk, named("first")).await;
    assert!(first.unwrap().is_some());
    let second = key_change::create_first(&office.desk, named("second")).await;
    assert!(second.unwrap().is_none());
}

#[tokio::test]
async fn each_change_of_a_key_is_recorded_without_its_secret() {
    let office = Office::open(|_| {}).await;
    let wanted = NewKey {
        counters: vec![NAME.into()],
        read_only: true,
        ..named("phone")
    };
    let (kept, first) = office.create(wanted).await.unwrap();
    let (_, second) = office.rotate("phone", 5_000).await.unwrap();
    assert_eq!(
        office.create(named("phone")).await.unwrap_err().code,
        "KEY_NAME_TAKEN"
    );
    // By the key itself, which is a secret.
    office.revoke(&second).await.unwrap();
    assert!(office.rotate(&kept.id, 0).await.is_err());
    let calls = office.texts("SELECT tool FROM desk_writes").await;
    assert_eq!(calls.len(), 3, "{calls:?}");
    let records = office.all_records().await;
    let seen: Vec<_> = records
        .iter()
        .map(|it| {
            let text = |name: &str| it[name].as_str().unwrap_or_default().to_owned();
            (text("tool"), text("outcome"), text("code"))
        })
        .collect();
    let seen: Vec<_> = seen.iter().map(|(a, b, c)| (&**a, &**b, &**c)).collect();
    assert_eq!(
        seen,
        [
            ("key/create", "done", ""),
            ("key/rotate", "done", ""),
            ("key/create", "refused", "KEY_NAME_TAKEN"),
            ("key/revoke", "done", ""),
            ("key/rotate", "refused", "KEY_REVOKED"),
        ]
    );
    for record in &records {
        assert_eq!(record["caller"], "local", "{record}");
        assert_eq!(record["counter"], "desk", "{record}");
        assert_eq!(record["arguments"]["name"], "phone", "{record}");
    }
    assert_eq!(records[0]["arguments"]["counters"], json!([NAME]));
    assert_eq!(records[0]["arguments"]["read_only"], true);
    for at in [0, 1, 3, 4] {
        assert_eq!(records[at]["arguments"]["id"], *kept.id, "{at}");
    }
    let text = format!("{records:?}");
    for key in [first, second] {
        let secret = key.rsplit('_').next().unwrap();
        assert!(!text.contains(secret), "{text}");
    }
}
