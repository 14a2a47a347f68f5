//! A result under its own names.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::world::{WAYS_OUT, World, bad, damages, entry, folder, is_executable, link, manifest, part};
use crate::{Manifest, Node, Part, StageId};

/// What stands under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Is {
    File(Vec<u8>, bool),
    Folder,
    Link(String),
}

type Tree = BTreeMap<String, Is>;

/// Names that an object store or a shell would trip over, and that a result keeps.
const NAMES: [&str; 12] = [
    "100%.txt",
    "%41",
    "a#b",
    "~",
    "~root",
    " two  spaces ",
    "größe-字-🐟",
    "new\nline",
    "tab\tand\"quotes'",
    "-rf",
    "back\\slash",
    "...",
];

/// What lies in a local folder.
fn tree(root: &Path, prefix: &str, found: &mut Tree) {
    for child in fs::read_dir(root).unwrap() {
        let path = child.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_symlink() {
            found.insert(name, Is::Link(fs::read_link(&path).unwrap().to_str().unwrap().to_owned()));
        } else if kind.is_dir() {
            tree(&path, &format!("{name}/"), found);
            found.insert(name, Is::Folder);
        } else {
            let is = Is::File(fs::read(&path).unwrap(), is_executable(&path));
            found.insert(name, is);
        }
    }
}

fn file(bytes: &[u8]) -> Is {
    Is::File(bytes.to_vec(), false)
}

/// Lays the manifest out and checks that it is this tree, by what is answered and by what lies there.
async fn lays_out(world: &World, stage: &StageId, output: &Manifest, expected: &Tree) -> Manifest {
    let laid = world.target.lay_out(stage, output).await.unwrap();
    assert_eq!(laid.encode().map(drop).map_err(|error| error.to_string()), Ok(()), "it can be stored");
    let mut told = Tree::new();
    for one in &laid.entries {
        let is = match &one.node {
            Node::Folder => Is::Folder,
            Node::Link { to } => Is::Link(to.clone()),
            Node::File { parts, executable } => {
                let own = |part: &Part| part.key.starts_with(&format!("{}/", stage.prefix()));
                assert!(
                    parts.iter().all(own),
                    "a result refers to nothing outside of its own stage: {parts:?}"
                );
                Is::File(world.fetched(parts).await, *executable)
            }
        };
        told.insert(one.path.clone(), is);
    }
    let named: Vec<_> = output.entries.iter().map(|one| &one.path).collect();
    assert_eq!(told.keys().collect::<Vec<_>>(), named);
    assert!(told.iter().all(|(name, is)| expected.get(name) == Some(is)), "{told:?}");
    if let Some(result) = world.local_result(stage) {
        let mut found = Tree::new();
        tree(&result, "", &mut found);
        assert_eq!(&found, expected);
    }
    laid
}

pub async fn names_are_kept_as_they_are(world: World) {
    let stage = world.stage();
    let (mut entries, mut expected) = (Vec::new(), Tree::new());
    for (number, name) in (1..).zip(NAMES) {
        let inside = format!("{name} d/{name}");
        let sealed = world.seal(&stage, number, name.as_bytes()).await;
        entries.extend([entry(name, &[&sealed], false), folder(&format!("{name} d"))]);
        entries.push(entry(&inside, &[&sealed], false));
        expected.extend([(name.to_owned(), file(name.as_bytes())), (inside, file(name.as_bytes()))]);
        expected.insert(format!("{name} d"), Is::Folder);
    }
    lays_out(&world, &stage, &manifest(entries), &expected).await;
}

pub async fn names_of_any_length_and_depth_are_kept(world: World) {
    let stage = world.stage();
    // A name of 255 bytes is the longest that a folder takes, and 255 escaped ones are more than a key holds.
    let names = ["x".repeat(255), format!("{}/y", "ü".repeat(127)), format!("{}z", "deep 字/".repeat(100))];
    let (mut entries, mut expected) = (Vec::new(), Tree::new());
    for (number, name) in (1..).zip(&names) {
        let sealed = world.seal(&stage, number, name.as_bytes()).await;
        entries.push(entry(name, &[&sealed], number == 2));
        expected.insert(name.clone(), Is::File(name.as_bytes().to_vec(), number == 2));
        expected.extend(name.match_indices('/').map(|(end, _)| (name[..end].to_owned(), Is::Folder)));
    }
    lays_out(&world, &stage, &manifest(entries), &expected).await;
}

pub async fn folders_nested_and_empty_are_kept_and_missing_ones_made(world: World) {
    let stage = world.stage();
    let sealed = world.seal(&stage, 1, b"x").await;
    let names = ["empty", "a", "a/empty", "a/b", "a/b/c"];
    let mut entries: Vec<_> = names.into_iter().map(folder).collect();
    entries.extend([entry("a/b/c/x", &[&sealed], false), entry("not/named/x", &[&sealed], false)]);
    let made = names.into_iter().chain(["not", "not/named"]);
    let mut expected: Tree = made.map(|name| (name.to_owned(), Is::Folder)).collect();
    expected.extend(["a/b/c/x", "not/named/x"].map(|name| (name.to_owned(), file(b"x"))));
    lays_out(&world, &stage, &manifest(entries), &expected).await;
}

pub async fn links_are_kept_as_written_and_not_followed(world: World) {
    let stage = world.stage();
    let sealed = world.seal(&stage, 1, b"x").await;
    let links = [("a/up", "../x"), ("dangling", "no/such"), ("here", "."), ("to-a", "a")];
    let mut entries: Vec<_> = links.iter().map(|(path, to)| link(path, to)).collect();
    entries.extend([folder("a"), entry("x", &[&sealed], false)]);
    let mut expected: Tree =
        links.iter().map(|(path, to)| ((*path).to_owned(), Is::Link((*to).to_owned()))).collect();
    expected.extend([("a".to_owned(), Is::Folder), ("x".to_owned(), file(b"x"))]);
    lays_out(&world, &stage, &manifest(entries), &expected).await;
}

pub async fn the_executable_bit_is_the_entrys_also_where_the_parts_differs(world: World) {
    let stage = world.stage();
    let plain = world.seal(&stage, 1, b"plain").await;
    let program = world.target.seal_file(&stage, 2, &world.file(b"program"), true).await.unwrap();
    let (mut entries, mut expected) = (Vec::new(), Tree::new());
    for (sealed, bytes) in [(&plain, &b"plain"[..]), (&program, b"program")] {
        for executable in [false, true, false] {
            let name = format!("{executable} {} {}", sealed.length, entries.len());
            entries.push(entry(&name, &[sealed], executable));
            expected.insert(name, Is::File(bytes.to_vec(), executable));
        }
    }
    lays_out(&world, &stage, &manifest(entries), &expected).await;
    assert_eq!(world.target.read(&plain).await.unwrap(), b"plain");
}

pub async fn parts_of_earlier_attempts_and_several_of_one_file_become_the_results_own(world: World) {
    let first = world.stage();
    let second = world.next_stage(&first);
    let old = world.target.seal_file(&first, 1, &world.file(b"old "), true).await.unwrap();
    let new = world.seal(&second, 1, b"new").await;
    let output = manifest([
        entry("both", &[&old, &new], false),
        entry("empty", &[], true),
        entry("old", &[&old], true),
        entry("old-plain", &[&old], false),
    ]);
    let is = [
        ("both", file(b"old new")),
        ("empty", Is::File(Vec::new(), true)),
        ("old", Is::File(b"old ".to_vec(), true)),
        ("old-plain", file(b"old ")),
    ];
    let expected = is.map(|(name, is)| (name.to_owned(), is)).into();
    let laid = lays_out(&world, &second, &output, &expected).await;
    world.target.sweep(&first, &[].into()).await.unwrap();
    assert!(world.keys(&first).is_empty());
    for (one, bytes) in laid.entries.iter().zip([&b"old new"[..], b"", b"old ", b"old "]) {
        let Node::File { parts, .. } = &one.node else { panic!("{one:?}") };
        assert_eq!(world.fetched(parts).await, bytes, "{}", one.path);
    }
}

pub async fn a_repeated_call_begins_again(world: World) {
    let stage = world.stage();
    let sealed = [world.seal(&stage, 1, b"one").await, world.seal(&stage, 2, b"two").await];
    let before = manifest([entry("a/gone", &[&sealed[0]], false), folder("a"), folder("b")]);
    world.target.lay_out(&stage, &before).await.unwrap();
    let output = manifest([entry("a", &[&sealed[0]], false), entry("b", &[&sealed[1]], true)]);
    let is = [("a", file(b"one")), ("b", Is::File(b"two".to_vec(), true))];
    let expected = is.map(|(name, is)| (name.to_owned(), is)).into();
    let first = lays_out(&world, &stage, &output, &expected).await;
    assert_eq!(lays_out(&world, &stage, &output, &expected).await, first);
    lays_out(&world, &stage, &Manifest::default(), &Tree::new()).await;
}

pub async fn many_files_are_laid_out(world: World) {
    let stage = world.stage();
    let sealed = world.seal(&stage, 1, b"one part for all").await;
    let name = |number: u32| format!("{:02}/{number:04}", number % 20);
    let expected: Tree = (0..1_200).map(|number| (name(number), file(b"one part for all"))).collect();
    let output = manifest(expected.keys().map(|name| entry(name, &[&sealed], false)));
    let laid = world.target.lay_out(&stage, &output).await.unwrap();
    assert_eq!((laid.files(), laid.bytes()), (1_200, 1_200 * 16));
    assert_eq!(laid.keys().len(), 1_200, "each has a key of its own");
    let parts: Vec<_> = laid.parts().cloned().collect();
    world.target.verify(&parts, crate::Depth::All).await.unwrap();
    if let Some(result) = world.local_result(&stage) {
        let mut found = Tree::new();
        tree(&result, "", &mut found);
        found.retain(|_, is| *is != Is::Folder);
        assert_eq!(found, expected);
    }
}

pub async fn a_part_that_is_missing_or_of_another_length_is_bad_data(world: World) {
    let stage = world.stage();
    let sealed =
        [world.seal(&stage, 1, b"a neighbour").await, world.seal(&stage, 2, b"sixteen bytes :)").await];
    for parts in [&sealed[..], &sealed[1..]] {
        let parts: Vec<_> = parts.iter().collect();
        let output = manifest([entry("x", &parts, false)]);
        for (damage, bytes) in damages(b"sixteen bytes :)") {
            if damage != "a flipped byte" {
                world.fixture.change(&sealed[1].key, bytes.as_deref());
                bad(world.target.lay_out(&stage, &output).await, damage);
            }
        }
        world.fixture.change(&sealed[1].key, Some(b"sixteen bytes :)"));
        world.target.lay_out(&stage, &output).await.unwrap();
    }
}

pub async fn what_leads_out_of_the_result_or_of_the_room_is_refused_and_written_nowhere(world: World) {
    let stage = world.stage();
    let sealed = world.seal(&stage, 1, b"x").await;
    for name in WAYS_OUT {
        bad(world.target.lay_out(&stage, &manifest([entry(name, &[&sealed], false)])).await, name);
        bad(world.target.lay_out(&stage, &manifest([folder(name)])).await, name);
        bad(world.target.lay_out(&stage, &manifest([link(name, "x")])).await, name);
        let stolen = part(name, b"x");
        for parts in [vec![&stolen], vec![&sealed, &stolen]] {
            bad(world.target.lay_out(&stage, &manifest([entry("x", &parts, false)])).await, name);
        }
    }
    let outside = world.place();
    fs::create_dir(&outside).unwrap();
    let through = [link("l", outside.to_str().unwrap()), entry("l/x", &[&sealed], false)];
    bad(world.target.lay_out(&stage, &manifest(through)).await, "through a link");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    let twice = Manifest { entries: vec![entry("x", &[&sealed], false), folder("x")] };
    bad(world.target.lay_out(&stage, &twice).await, "twice");
}
