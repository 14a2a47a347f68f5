//! A file back from its parts, every digest checked on the way.

use super::world::{WAYS_OUT, World, bad, damages, is_executable, part};

const BYTES: &[u8] = b"sixteen bytes :)";

pub async fn a_file_is_its_parts_one_after_another(world: World) {
    let stage = world.stage();
    let other = world.next_stage(&stage);
    let parts = [
        world.seal(&stage, 1, b"one ").await,
        world.seal(&other, 1, b"two ").await,
        world.seal(&stage, 2, b"").await,
        world.seal(&stage, 3, &[b'3'; 300_000]).await,
    ];
    let whole = world.fetched(&parts).await;
    assert_eq!(whole, [b"one two ".as_slice(), &[b'3'; 300_000]].concat());
    let backwards = [parts[1].clone(), parts[0].clone(), parts[0].clone()];
    assert_eq!(world.fetched(&backwards).await, b"two one one ");
    assert_eq!(world.fetched(&[]).await, b"", "no parts: an empty file");
}

pub async fn the_executable_bit_is_as_asked_and_what_lay_there_is_replaced(world: World) {
    let parts = [world.seal(&world.stage(), 1, b"new").await];
    let to = world.file(b"something longer that was there");
    for executable in [true, false, true] {
        world.target.fetch(&parts, &to, executable).await.unwrap();
        assert_eq!((std::fs::read(&to).unwrap().as_slice(), is_executable(&to)), (&b"new"[..], executable));
    }
}

pub async fn a_link_that_lay_there_is_replaced_and_not_followed(world: World) {
    let parts = [world.seal(&world.stage(), 1, b"new").await];
    let (precious, to) = (world.file(b"precious"), world.place());
    std::os::unix::fs::symlink(&precious, &to).unwrap();
    world.target.fetch(&parts, &to, false).await.unwrap();
    assert_eq!(std::fs::read(&to).unwrap(), b"new");
    assert_eq!(std::fs::read(&precious).unwrap(), b"precious");
}

pub async fn damaged_parts_are_bad_data_and_leave_no_file(world: World) {
    let stage = world.stage();
    let parts = [world.seal(&stage, 1, b"a neighbour").await, world.seal(&stage, 2, BYTES).await];
    for (damage, bytes) in damages(BYTES) {
        world.fixture.change(&parts[1].key, bytes.as_deref());
        let to = world.place();
        bad(world.target.fetch(&parts, &to, false).await, damage);
        assert!(!to.exists(), "{damage}");
    }
}

pub async fn a_key_that_leads_out_is_refused(world: World) {
    for key in WAYS_OUT {
        bad(world.target.fetch(&[part(key, b"x")], &world.place(), false).await, key);
    }
}
