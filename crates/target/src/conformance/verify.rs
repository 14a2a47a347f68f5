//! Verification at both depths: existence and length of all, digests of those that the depth covers.

use super::world::{WAYS_OUT, World, bad, damages, part};
use crate::Depth;

const BYTES: &[u8] = b"sixteen bytes :)";

pub async fn parts_that_are_right_pass_at_every_depth(world: World) {
    let stage = world.stage();
    let parts = [world.seal(&stage, 1, BYTES).await, world.seal(&stage, 2, b"").await];
    for depth in [Depth::All, Depth::UpTo(0), Depth::UpTo(16), Depth::UpTo(u64::MAX)] {
        world.target.verify(&parts, depth).await.unwrap();
        world.target.verify(&[], depth).await.unwrap();
    }
}

pub async fn every_damage_is_found_where_the_depth_covers_the_part(world: World) {
    let stage = world.stage();
    let sealed = [world.seal(&stage, 1, b"a neighbour").await, world.seal(&stage, 2, BYTES).await];
    for (damage, bytes) in damages(BYTES) {
        world.fixture.change(&sealed[1].key, bytes.as_deref());
        for depth in [Depth::All, Depth::UpTo(16)] {
            let text = bad(world.target.verify(&sealed, depth).await, damage);
            assert!(text.contains(&sealed[1].key), "{damage}: {text}");
        }
        world.target.verify(&sealed[..1], Depth::All).await.unwrap();
        world.fixture.change(&sealed[1].key, Some(BYTES));
        world.target.verify(&sealed, Depth::All).await.unwrap();
    }
}

pub async fn of_a_larger_part_only_existence_and_length_are_checked(world: World) {
    let sealed = [world.seal(&world.stage(), 1, BYTES).await];
    for (damage, bytes) in damages(BYTES) {
        world.fixture.change(&sealed[0].key, bytes.as_deref());
        let answer = world.target.verify(&sealed, Depth::UpTo(15)).await;
        if damage == "a flipped byte" {
            answer.unwrap();
        } else {
            bad(answer, damage);
        }
    }
}

pub async fn a_part_of_another_digest_is_bad_data(world: World) {
    let mut sealed = world.seal(&world.stage(), 1, BYTES).await;
    sealed.digest = crate::Digest::of(b"other");
    bad(world.target.verify(&[sealed], Depth::All).await, "another digest");
}

pub async fn a_key_that_leads_out_is_refused(world: World) {
    for key in WAYS_OUT {
        for depth in [Depth::All, Depth::UpTo(0)] {
            bad(world.target.verify(&[part(key, b"x")], depth).await, key);
        }
    }
}
