//! Tokens and the trail.

use protocol::{FaultKind, Violation};

use super::world::World;
use crate::{NewToken, Scope, TOKENS, TRAIL_KEPT, TRAIL_STEP, TokenMade, TokenRow, TrailEntry};

fn new(id: &str) -> NewToken {
    NewToken {
        id: id.to_owned(),
        name: "ci".to_owned(),
        scopes: vec![Scope::Submit, Scope::Read, Scope::Submit],
        digest: [7; 32],
        lasts_ms: Some(1_000),
    }
}

async fn made(world: &World, token: &NewToken) -> TokenRow {
    match world.room.make_token(token).await.unwrap() {
        TokenMade::Made(row) => row,
        other => panic!("{other:?}"),
    }
}

fn entry(id: u128, scope: Scope) -> TrailEntry {
    TrailEntry {
        id,
        token: Some("t1".to_owned()),
        who: "ci".to_owned(),
        origin: "127.0.0.1".to_owned(),
        scope,
        action: "cancel".to_owned(),
        object: format!("job {id}"),
        outcome: "done".to_owned(),
    }
}

pub async fn a_token_is_known_until_it_is_revoked(world: World) {
    assert!(world.room.tokens().await.unwrap().tokens.is_empty());
    let one = made(&world, &new("one")).await;
    assert_eq!((one.name.as_str(), one.scopes.as_slice()), ("ci", &[Scope::Read, Scope::Submit][..]));
    assert_eq!((one.digest, one.last_used_at), ([7; 32], None));
    assert_eq!(one.expires_at, Some(one.created_at.plus_ms(1_000)));
    world.advance(5_000);
    let two = made(&world, &NewToken { lasts_ms: None, ..new("two") }).await;
    assert_eq!(two.expires_at, None);
    let all = world.room.tokens().await.unwrap();
    assert_eq!(all.tokens, [one.clone(), two.clone()], "in the order of their making, expired ones too");
    assert_eq!(all.now.since_ms(one.created_at), 5_000);
    assert!(world.room.revoke_token("one").await.unwrap());
    assert!(!world.room.revoke_token("one").await.unwrap(), "it is not known any more");
    assert!(!world.room.revoke_token("\0").await.unwrap());
    assert_eq!(world.room.tokens().await.unwrap().tokens, [two]);
}

pub async fn the_same_token_again_is_answered_the_same_and_another_under_its_id_is_not(world: World) {
    let first = made(&world, &new("one")).await;
    world.advance(10);
    assert_eq!(made(&world, &new("one")).await, first);
    let other = NewToken { digest: [8; 32], ..new("one") };
    assert_eq!(world.room.make_token(&other).await.unwrap(), TokenMade::IdTaken);
    assert_eq!(world.room.tokens().await.unwrap().tokens, [first]);
}

pub async fn there_are_no_more_tokens_than_can_be_compared(world: World) {
    for number in 0..TOKENS {
        made(&world, &new(&format!("t{number}"))).await;
    }
    assert_eq!(world.room.make_token(&new("one_more")).await.unwrap(), TokenMade::Full);
    made(&world, &new("t7")).await;
    assert!(world.room.revoke_token("t7").await.unwrap());
    made(&world, &new("one_more")).await;
}

pub async fn a_token_out_of_form_is_a_fault_that_names_the_field(world: World) {
    let wrong = [
        (NewToken { name: String::new(), ..new("one") }, "name is empty"),
        (NewToken { name: "a b".to_owned(), ..new("one") }, "name is a name with ' '"),
        (NewToken { name: "\0".to_owned(), ..new("one") }, "name is a name with"),
        (NewToken { scopes: vec![], ..new("one") }, "scopes is empty"),
        (NewToken { lasts_ms: Some(0), ..new("one") }, "lasts is 0 ms"),
        (new(""), "id is empty"),
    ];
    for (token, text) in wrong {
        let fault = world.room.make_token(&token).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Unreachable, "surely not applied");
        let source = std::error::Error::source(&fault).unwrap();
        assert!(source.to_string().contains(text), "{source}");
        assert!(token.validate().is_err_and(|violation: Violation| violation.to_string().contains(text)));
    }
    let longest = made(&world, &NewToken { lasts_ms: Some(u64::MAX), ..new("long") }).await;
    assert_eq!(longest.expires_at, Some(protocol::Timestamp::MAX), "the last moment there is");
}

pub async fn the_last_use_is_written_down_to_the_minute(world: World) {
    let token = made(&world, &NewToken { lasts_ms: None, ..new("one") }).await;
    let ids = ["one".to_owned(), "stranger".to_owned()];
    let mut seen = Vec::new();
    for _ in 0..4 {
        world.advance(30_000);
        world.room.tokens_used(&ids).await.unwrap();
        let row = world.room.tokens().await.unwrap().tokens.remove(0);
        seen.push(row.last_used_at.unwrap().since_ms(token.created_at));
    }
    assert_eq!(seen, [30_000, 30_000, 90_000, 90_000]);
    world.room.tokens_used(&[]).await.unwrap();
}

pub async fn the_trail_is_read_newest_first_in_pages_and_an_entry_is_added_once(world: World) {
    assert!(world.room.trail(None, 10).await.unwrap().is_empty());
    let entries: Vec<_> = (1..=5).map(|id| entry(id, Scope::Operate)).collect();
    world.room.add_to_trail(&entries[..3]).await.unwrap();
    world.advance(10);
    world.room.add_to_trail(&entries[2..]).await.unwrap();
    world.room.add_to_trail(&entries).await.unwrap();
    world.room.add_to_trail(&[]).await.unwrap();
    let page = world.room.trail(None, 3).await.unwrap();
    let ids = |rows: &[crate::TrailRow]| rows.iter().map(|row| row.entry.id).collect::<Vec<_>>();
    assert_eq!(ids(&page), [5, 4, 3]);
    assert_eq!(page[0].entry, entries[4]);
    assert_eq!(page[0].at.since_ms(page[2].at), 10);
    let rest = world.room.trail(Some(page[2].number), 10).await.unwrap();
    assert_eq!(ids(&rest), [2, 1]);
    assert!(world.room.trail(Some(0), 10).await.unwrap().is_empty());
    assert!(world.room.trail(None, 0).await.unwrap().is_empty());
}

pub async fn a_text_that_no_store_holds_is_shown_in_the_trail(world: World) {
    let strange =
        TrailEntry { object: format!("a\0b{}", "é".repeat(2_000)), token: None, ..entry(1, Scope::Admin) };
    world.room.add_to_trail(&[strange]).await.unwrap();
    let row = world.room.trail(None, 1).await.unwrap().remove(0);
    assert!(row.entry.object.starts_with("a\u{2400}b"), "{}", row.entry.object);
    assert!(row.entry.object.len() <= 1_030, "{}", row.entry.object.len());
    assert_eq!(row.entry.token, None);
}

pub async fn each_scope_keeps_its_own_last_entries(world: World) {
    world.room.add_to_trail(&[entry(u128::MAX, Scope::Admin)]).await.unwrap();
    let many = TRAIL_KEPT + 2 * TRAIL_STEP;
    let ids: Vec<_> = (1..=u128::from(many)).collect();
    for some in ids.chunks(5_000) {
        let entries: Vec<_> = some.iter().map(|id| entry(*id, Scope::Submit)).collect();
        world.room.add_to_trail(&entries).await.unwrap();
    }
    let kept = usize::try_from(TRAIL_KEPT).unwrap();
    let all = world.room.trail(None, usize::MAX).await.unwrap();
    assert!((kept + 1..=kept + 1 + 1_000).contains(&all.len()), "{}", all.len());
    assert_eq!(all.last().unwrap().entry.scope, Scope::Admin, "it was not washed out");
    assert_eq!(all[0].entry.id, u128::from(many));
    assert!(all[kept - 1].entry.scope == Scope::Submit);
}
