//! A keyspace with the commands that scripts use, as strict as Dragonfly with default flags is.
//!
//! Promises: only declared keys, all of one hash tag; arguments that are texts or numbers; scores as numbers; commands
//! that need memory can be refused from one call on. Whatever it does not know, it refuses.

use std::collections::{BTreeMap, BTreeSet};

/// A value of a key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(Vec<u8>),
    Hash(BTreeMap<Vec<u8>, Vec<u8>>),
    Set(BTreeSet<Vec<u8>>),
    Sorted(BTreeMap<Vec<u8>, i64>),
}

/// What a command answers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Nil,
    Number(i64),
    Text(Vec<u8>),
    List(Vec<Self>),
}

/// All keys.
#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) keys: BTreeMap<Vec<u8>, Value>,
}

/// Commands that Dragonfly refuses when memory is full.
const NEED_MEMORY: [&str; 6] = ["HSET", "HSETNX", "HINCRBY", "ZADD", "SADD", "SET"];

pub(crate) fn needs_memory(command: &str) -> bool {
    NEED_MEMORY.contains(&command)
}

/// The keys that a command touches.
pub(crate) fn keys_of<'a>(command: &str, words: &'a [Vec<u8>]) -> &'a [Vec<u8>] {
    match command {
        "TIME" => &[],
        "MGET" | "DEL" | "UNLINK" => words,
        _ => &words[..1],
    }
}

/// The part of a key that says where it lies.
pub(crate) fn tag(key: &[u8]) -> &[u8] {
    let open = key.iter().position(|byte| *byte == b'{').expect("a key without a tag");
    let close = key[open..].iter().position(|byte| *byte == b'}').expect("a tag that ends");
    &key[open..=open + close]
}

fn number(word: &[u8]) -> Result<i64, String> {
    let text = std::str::from_utf8(word).map_err(|_| "ERR value is not an integer".to_owned())?;
    text.parse().map_err(|_| format!("ERR value is not an integer: {text}"))
}

macro_rules! of_kind {
    ($name:ident, $variant:ident, $inner:ty) => {
        fn $name(&mut self, key: &[u8]) -> Result<&mut $inner, String> {
            let value = self.keys.entry(key.to_vec()).or_insert_with(|| Value::$variant(Default::default()));
            match value {
                Value::$variant(inner) => Ok(inner),
                other => Err(format!("WRONGTYPE {other:?}")),
            }
        }
    };
}

impl Store {
    of_kind!(text, Text, Vec<u8>);
    of_kind!(hash, Hash, BTreeMap<Vec<u8>, Vec<u8>>);
    of_kind!(set, Set, BTreeSet<Vec<u8>>);
    of_kind!(sorted, Sorted, BTreeMap<Vec<u8>, i64>);

    /// Runs one command.
    pub(crate) fn run(&mut self, command: &str, words: &[Vec<u8>]) -> Result<Answer, String> {
        let answer = self.run_on_any(command, words);
        // A container without members is no key.
        self.keys.retain(|_, value| match value {
            Value::Text(_) => true,
            Value::Hash(hash) => !hash.is_empty(),
            Value::Set(set) => !set.is_empty(),
            Value::Sorted(sorted) => !sorted.is_empty(),
        });
        answer
    }

    fn run_on_any(&mut self, command: &str, words: &[Vec<u8>]) -> Result<Answer, String> {
        match command {
            "TIME" => Ok(Answer::List(vec![Answer::Text(b"1000".to_vec()), Answer::Text(b"5000".to_vec())])),
            "DEL" | "UNLINK" => {
                let gone = words.iter().filter(|key| self.keys.remove(*key).is_some()).count();
                Ok(Answer::Number(i64::try_from(gone).unwrap()))
            }
            "MGET" | "SET" | "INCR" | "INCRBY" => self.on_texts(command, words),
            name if name.starts_with('H') => self.on_hashes(command, words),
            name if name.starts_with('S') => self.on_sets(command, words),
            name if name.starts_with('Z') => self.on_sorted(command, words),
            other => Err(format!("ERR unknown command {other}")),
        }
    }

    fn on_texts(&mut self, command: &str, words: &[Vec<u8>]) -> Result<Answer, String> {
        match command {
            "MGET" => {
                let one = |key: &Vec<u8>| match self.keys.get(key) {
                    Some(Value::Text(text)) => Answer::Text(text.clone()),
                    _ => Answer::Nil,
                };
                Ok(Answer::List(words.iter().map(one).collect()))
            }
            "SET" => {
                self.keys.insert(words[0].clone(), Value::Text(words[1].clone()));
                Ok(Answer::Text(b"OK".to_vec()))
            }
            _ => {
                let by = words.get(1).map_or(Ok(1), |word| number(word))?;
                let text = self.text(&words[0])?;
                let now = if text.is_empty() { 0 } else { number(text)? } + by;
                *text = now.to_string().into_bytes();
                Ok(Answer::Number(now))
            }
        }
    }

    fn on_hashes(&mut self, command: &str, words: &[Vec<u8>]) -> Result<Answer, String> {
        let hash = self.hash(&words[0])?;
        let get = |field: &Vec<u8>| hash.get(field).map_or(Answer::Nil, |value| Answer::Text(value.clone()));
        let count = |count: usize| Ok(Answer::Number(i64::try_from(count).unwrap()));
        match command {
            "HGET" => Ok(get(&words[1])),
            "HMGET" => Ok(Answer::List(words[1..].iter().map(get).collect())),
            "HLEN" => count(hash.len()),
            "HKEYS" => Ok(Answer::List(hash.keys().cloned().map(Answer::Text).collect())),
            "HGETALL" => {
                let flat = hash.iter().flat_map(|(field, value)| [field.clone(), value.clone()]);
                Ok(Answer::List(flat.map(Answer::Text).collect()))
            }
            "HDEL" => count(words[1..].iter().filter(|field| hash.remove(*field).is_some()).count()),
            "HSET" => {
                assert!(words.len() % 2 == 1 && words.len() > 2, "HSET takes pairs");
                let new =
                    words[1..].chunks(2).filter(|two| hash.insert(two[0].clone(), two[1].clone()).is_none());
                count(new.count())
            }
            "HSETNX" => {
                let there = hash.contains_key(&words[1]);
                if !there {
                    hash.insert(words[1].clone(), words[2].clone());
                }
                count(usize::from(!there))
            }
            "HINCRBY" => {
                let now = hash.get(&words[1]).map_or(Ok(0), |value| number(value))? + number(&words[2])?;
                hash.insert(words[1].clone(), now.to_string().into_bytes());
                Ok(Answer::Number(now))
            }
            other => Err(format!("ERR unknown command {other}")),
        }
    }

    fn on_sets(&mut self, command: &str, words: &[Vec<u8>]) -> Result<Answer, String> {
        let set = self.set(&words[0])?;
        let count = match command {
            "SCARD" => set.len(),
            "SISMEMBER" => usize::from(set.contains(&words[1])),
            "SADD" => usize::from(set.insert(words[1].clone())),
            "SREM" => usize::from(set.remove(&words[1])),
            other => return Err(format!("ERR unknown command {other}")),
        };
        Ok(Answer::Number(i64::try_from(count).unwrap()))
    }

    fn on_sorted(&mut self, command: &str, words: &[Vec<u8>]) -> Result<Answer, String> {
        let sorted = self.sorted(&words[0])?;
        let count = |count: usize| Ok(Answer::Number(i64::try_from(count).unwrap()));
        match command {
            "ZCARD" => count(sorted.len()),
            "ZSCORE" => Ok(sorted.get(&words[1]).map_or(Answer::Nil, |score| Answer::Number(*score))),
            "ZADD" => count(usize::from(sorted.insert(words[2].clone(), number(&words[1])?).is_none())),
            "ZREM" => count(usize::from(sorted.remove(&words[1]).is_some())),
            "ZINCRBY" => {
                let score = sorted.entry(words[2].clone()).or_insert(0);
                *score += number(&words[1])?;
                Ok(Answer::Number(*score))
            }
            "ZLEXCOUNT" => count(by_lex(sorted, words)?.len()),
            "ZRANGEBYLEX" => limited(by_lex(sorted, words)?, words),
            "ZRANGEBYSCORE" => {
                let (low, high) = (bound(&words[1])?, bound(&words[2])?);
                let inside = |score: i64| low.admits_from(score) && high.admits_to(score);
                let mut some: Vec<_> = sorted.iter().filter(|(_, score)| inside(**score)).collect();
                some.sort_by_key(|(member, score)| (**score, (*member).clone()));
                limited(some.into_iter().map(|(member, _)| member.clone()).collect(), words)
            }
            other => Err(format!("ERR unknown command {other}")),
        }
    }
}

struct Bound {
    at: i64,
    open: bool,
}

impl Bound {
    fn admits_from(&self, score: i64) -> bool {
        if self.open { score > self.at } else { score >= self.at }
    }

    fn admits_to(&self, score: i64) -> bool {
        if self.open { score < self.at } else { score <= self.at }
    }
}

fn bound(word: &[u8]) -> Result<Bound, String> {
    Ok(match word {
        b"-inf" => Bound { at: i64::MIN, open: false },
        b"+inf" => Bound { at: i64::MAX, open: false },
        [b'(', rest @ ..] => Bound { at: number(rest)?, open: true },
        rest => Bound { at: number(rest)?, open: false },
    })
}

fn by_lex(sorted: &BTreeMap<Vec<u8>, i64>, words: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String> {
    let mut scores = sorted.values();
    let first = scores.next();
    assert!(scores.all(|score| Some(score) == first), "order by bytes needs equal scores");
    let from = |member: &[u8]| match words[1].as_slice() {
        b"-" => Ok(true),
        [b'[', rest @ ..] => Ok(member >= rest),
        [b'(', rest @ ..] => Ok(member > rest),
        _ => Err("ERR min or max not valid string range item".to_owned()),
    };
    let to = |member: &[u8]| match words[2].as_slice() {
        b"+" => Ok(true),
        [b'[', rest @ ..] => Ok(member <= rest),
        [b'(', rest @ ..] => Ok(member < rest),
        _ => Err("ERR min or max not valid string range item".to_owned()),
    };
    let mut some = Vec::new();
    for member in sorted.keys() {
        if from(member)? && to(member)? {
            some.push(member.clone());
        }
    }
    Ok(some)
}

fn limited(some: Vec<Vec<u8>>, words: &[Vec<u8>]) -> Result<Answer, String> {
    assert_eq!(words[3], b"LIMIT", "a range in a script has a limit");
    let (skip, most) = (number(&words[4])?, number(&words[5])?);
    assert!((0..=100).contains(&most), "a range of {most}");
    let some = some.into_iter().skip(usize::try_from(skip).unwrap()).take(usize::try_from(most).unwrap());
    Ok(Answer::List(some.map(Answer::Text).collect()))
}
