//! `AdvanceAttempt`, from a file: what is sealed is a copy, under a key of the attempt's own.

use super::world::{World, is_executable, part};
use crate::Digest;

pub async fn a_part_is_the_files_bytes_under_the_attempts_prefix(world: World) {
    let stage = world.stage();
    for (number, length) in [(1, 1), (2, 262_144), (3, 1_000_003)] {
        let bytes: Vec<_> = (0..length).map(|at: u32| u8::try_from(at % 251).unwrap()).collect();
        let sealed = world.seal(&stage, number, &bytes).await;
        assert!(sealed.key.starts_with(&format!("{}/", stage.prefix())), "{}", sealed.key);
        assert_eq!(sealed, part(&sealed.key, &bytes));
        assert_eq!(world.fixture.peek(&sealed.key), Some(bytes));
    }
    assert_eq!(world.keys(&stage).len(), 3, "three numbers, three keys");
}

pub async fn an_empty_file_is_a_part(world: World) {
    let sealed = world.seal(&world.stage(), 1, b"").await;
    assert_eq!((sealed.length, sealed.digest), (0, Digest::of(b"")));
    assert_eq!(world.target.read(&sealed).await.unwrap(), b"");
}

pub async fn a_part_is_a_copy_and_stays_when_the_file_changes(world: World) {
    let stage = world.stage();
    let file = world.file(b"before");
    let sealed = world.target.seal_file(&stage, 1, &file, false).await.unwrap();
    std::fs::write(&file, b"after").unwrap();
    assert_eq!(world.target.read(&sealed).await.unwrap(), b"before");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(world.target.read(&sealed).await.unwrap(), b"before");
}

pub async fn the_same_number_again_replaces_whatever_lay_there(world: World) {
    let stage = world.stage();
    let first = world.seal(&stage, 7, b"a longer one").await;
    let second = world.target.seal_file(&stage, 7, &world.file(b"short"), true).await.unwrap();
    assert_eq!(second, part(&first.key, b"short"));
    assert_eq!(world.target.read(&second).await.unwrap(), b"short");
    world.seal(&stage, 7, b"a longer one").await;
    assert_eq!(world.keys(&stage), [first.key].into());
}

pub async fn the_executable_bit_is_that_of_the_last_sealing(world: World) {
    let stage = world.stage();
    for executable in [false, true, false] {
        let sealed = world.target.seal_file(&stage, 1, &world.file(b"x"), executable).await.unwrap();
        let output = super::world::manifest([super::world::entry("x", &[&sealed], executable)]);
        let laid = world.target.lay_out(&stage, &output).await.unwrap();
        let to = world.place();
        world.target.fetch(&laid.parts().cloned().collect::<Vec<_>>(), &to, executable).await.unwrap();
        assert_eq!(is_executable(&to), executable);
        if let Some(result) = world.local_result(&stage) {
            assert_eq!(is_executable(&result.join("x")), executable);
        }
    }
}

pub async fn the_same_number_of_two_attempts_is_two_parts(world: World) {
    let first = world.stage();
    let second = world.next_stage(&first);
    let one = world.seal(&first, 1, b"one").await;
    let two = world.seal(&second, 1, b"two").await;
    assert_ne!(one.key, two.key);
    assert_eq!(world.target.read(&one).await.unwrap(), b"one");
    assert_eq!(world.target.read(&two).await.unwrap(), b"two");
}

pub async fn a_file_that_is_not_there_is_a_fault_and_leaves_nothing(world: World) {
    let stage = world.stage();
    let fault = world.target.seal_file(&stage, 1, &world.place(), false).await.unwrap_err();
    assert!(!fault.bad_data && !fault.out_of_space(), "{fault}");
    assert!(fault.to_string().starts_with("cannot read "), "{fault}");
    assert!(world.keys(&stage).iter().all(|key| key.ends_with('/')), "{:?}", world.keys(&stage));
}
