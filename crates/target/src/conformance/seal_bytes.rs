//! `AdvanceAttempt`, from memory.

use super::world::{World, part};

pub async fn bytes_are_sealed_as_a_file_with_them_is(world: World) {
    let stage = world.stage();
    for (number, bytes) in [(1, b"state".to_vec()), (2, Vec::new()), (3, vec![0xff; 300_000])] {
        let sealed = world.target.seal_bytes(&stage, number, bytes.clone()).await.unwrap();
        assert_eq!(sealed, part(&sealed.key, &bytes));
        assert_eq!(world.target.read(&sealed).await.unwrap(), bytes);
        assert_eq!(world.seal(&stage, number, &bytes).await, sealed, "the same number, the same part");
    }
}

pub async fn the_same_number_again_replaces_whatever_lay_there(world: World) {
    let stage = world.stage();
    let first = world.target.seal_bytes(&stage, 1, b"a longer one".to_vec()).await.unwrap();
    let second = world.target.seal_bytes(&stage, 1, b"short".to_vec()).await.unwrap();
    assert_eq!(second.key, first.key);
    assert_eq!(world.target.read(&second).await.unwrap(), b"short");
    super::world::bad(world.target.read(&first).await, "the first is gone");
}
