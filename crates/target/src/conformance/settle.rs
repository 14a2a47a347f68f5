//! Making names durable. That they are cannot be seen from here; that it may be asked for at any time can.

use super::world::World;

pub async fn what_was_sealed_is_there_after_it(world: World) {
    let stage = world.stage();
    for number in 1..=3 {
        let sealed = world.seal(&stage, number, b"bytes").await;
        world.target.settle(&stage).await.unwrap();
        world.target.settle(&stage).await.unwrap();
        assert_eq!(world.target.read(&sealed).await.unwrap(), b"bytes");
    }
}

pub async fn a_stage_without_parts_settles(world: World) {
    let stage = world.stage();
    world.target.settle(&stage).await.unwrap();
    assert!(world.keys(&stage).is_empty());
    let other = world.next_stage(&stage);
    world.seal(&other, 1, b"bytes").await;
    world.target.settle(&stage).await.unwrap();
}
