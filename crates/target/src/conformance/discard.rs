//! Single parts that no manifest refers to any more.

use super::world::{WAYS_OUT, World, bad};

pub async fn only_the_keys_named_go(world: World) {
    let stage = world.stage();
    let other = world.next_stage(&stage);
    let mut sealed = Vec::new();
    for number in 1..=4 {
        sealed.push(world.seal(&stage, number, b"bytes").await);
    }
    let foreign = world.seal(&other, 1, b"bytes").await;
    let named = [sealed[0].key.clone(), sealed[2].key.clone()].into();
    world.target.discard(&named).await.unwrap();
    assert_eq!(world.keys(&stage), [sealed[1].key.clone(), sealed[3].key.clone()].into());
    assert_eq!(world.target.read(&foreign).await.unwrap(), b"bytes");
    bad(world.target.read(&sealed[0]).await, "discarded");
}

pub async fn what_is_gone_already_is_no_fault(world: World) {
    let stage = world.stage();
    let sealed = world.seal(&stage, 1, b"bytes").await;
    let keys = [sealed.key, format!("{}/p/000099", stage.prefix())].into();
    world.target.discard(&keys).await.unwrap();
    world.target.discard(&keys).await.unwrap();
    world.target.discard(&[].into()).await.unwrap();
}

pub async fn a_key_that_leads_out_is_refused(world: World) {
    for key in WAYS_OUT {
        bad(world.target.discard(&[key.to_owned()].into()).await, key);
    }
}

pub async fn a_result_outlives_the_part_it_was_laid_out_from(world: World) {
    let stage = world.stage();
    let sealed = world.seal(&stage, 1, b"bytes").await;
    let output = super::world::manifest([super::world::entry("a", &[&sealed], false)]);
    let laid = world.target.lay_out(&stage, &output).await.unwrap();
    world.target.discard(&[sealed.key.clone()].into()).await.unwrap();
    world.seal(&stage, 1, b"other").await;
    let laid: Vec<_> = laid.parts().cloned().collect();
    assert_eq!(world.fetched(&laid).await, b"bytes", "also when the number is used again");
}
