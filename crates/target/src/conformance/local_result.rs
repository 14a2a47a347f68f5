//! Where a result lies, for whoever asks on this machine.

use super::world::{World, entry, manifest};

pub async fn it_is_the_folder_that_was_laid_out_and_each_attempt_has_its_own(world: World) {
    let stage = world.stage();
    let next = world.next_stage(&stage);
    let sealed = world.seal(&stage, 1, b"x").await;
    for (stage, name) in [(&stage, "one"), (&next, "two")] {
        world.target.lay_out(stage, &manifest([entry(name, &[&sealed], false)])).await.unwrap();
    }
    let Some(result) = world.local_result(&stage) else {
        assert_eq!(world.local_result(&next), None, "all of a room's results are local or none");
        return;
    };
    assert_eq!(std::fs::read(result.join("one")).unwrap(), b"x");
    let other = world.local_result(&next).unwrap();
    assert_eq!(std::fs::read(other.join("two")).unwrap(), b"x");
    assert!(!other.join("one").exists() && !result.join("two").exists());
}
