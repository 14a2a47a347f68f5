//! One part in memory, checked.

use super::world::{WAYS_OUT, World, bad, damages, part};

const BYTES: &[u8] = b"sixteen bytes :)";

pub async fn a_part_reads_back_byte_for_byte(world: World) {
    let stage = world.stage();
    for (number, bytes) in [(1, BYTES.to_vec()), (2, Vec::new()), (3, vec![0; 1_000_000])] {
        let sealed = world.seal(&stage, number, &bytes).await;
        assert_eq!(world.target.read(&sealed).await.unwrap(), bytes);
    }
}

pub async fn damaged_parts_are_bad_data(world: World) {
    let sealed = world.seal(&world.stage(), 1, BYTES).await;
    for (damage, bytes) in damages(BYTES) {
        world.fixture.change(&sealed.key, bytes.as_deref());
        let text = bad(world.target.read(&sealed).await, damage);
        assert!(text.contains(&sealed.key), "{text}");
    }
}

pub async fn a_stage_that_was_never_written_has_no_parts(world: World) {
    let key = format!("{}/p/000001", world.stage().prefix());
    bad(world.target.read(&part(&key, b"x")).await, "nothing there");
}

pub async fn a_key_that_leads_out_is_refused(world: World) {
    for key in WAYS_OUT {
        bad(world.target.read(&part(key, b"x")).await, key);
    }
}
