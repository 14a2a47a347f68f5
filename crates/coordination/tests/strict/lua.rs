//! The scripts under real Lua 5.4, as Dragonfly runs them, over the strict store.
//!
//! Promises: no global may be made or missed; what differs between 5.1 and 5.4 and may not be used is not there;
//! fractions are no answer. Counts calls; can end memory at one call and run the script again, as whoever asks would.

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use mlua::{Lua, MultiValue, Value as LuaValue, Variadic};
use protocol::Fault;
use remora_coordination::dragonfly::link::{Call, Link};
use remora_coordination::dragonfly::{Reply, Script};

use super::store::{Answer, Store, keys_of, needs_memory, tag};

/// When memory ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Never.
    Enough,
    /// At one call that needs it, a different one for each script; the script is run again.
    EndsOnce,
    /// For every call that needs it.
    Full,
}

struct Inside {
    store: Store,
    memory: Memory,
    scripts: u64,
    /// Scripts that memory ended, by name.
    ended: BTreeMap<&'static str, u64>,
    /// The most calls that one script made, by name.
    calls: BTreeMap<&'static str, u64>,
}

/// A link to the strict store.
pub(crate) struct Strict {
    inside: Mutex<Inside>,
}

/// One run of a script.
struct Run {
    /// The call that needs memory and does not get it, counted from 0.
    ends_at: Option<u64>,
    full: bool,
    needing: u64,
    calls: u64,
    hit: bool,
}

const OOM: &str = "OOM command not allowed when used memory > 'maxmemory'.";

impl Strict {
    pub(crate) fn new(memory: Memory) -> Self {
        let store = Store::default();
        let (ended, calls) = (BTreeMap::new(), BTreeMap::new());
        Self { inside: Mutex::new(Inside { store, memory, scripts: 0, ended, calls }) }
    }

    pub(crate) fn memory(&self, memory: Memory) {
        self.inside.lock().unwrap().memory = memory;
    }

    /// How many scripts of this name memory ended.
    pub(crate) fn ended(&self) -> BTreeMap<&'static str, u64> {
        self.inside.lock().unwrap().ended.clone()
    }

    /// The most calls that a script of this name made.
    pub(crate) fn calls(&self, name: &str) -> u64 {
        self.inside.lock().unwrap().calls.get(name).copied().unwrap_or(0)
    }

    /// All keys but those of the clock and the order, to compare.
    pub(crate) fn snapshot(&self) -> Vec<String> {
        let inside = self.inside.lock().unwrap();
        inside
            .store
            .keys
            .iter()
            .map(|(key, value)| format!("{} {value:?}", String::from_utf8_lossy(key)))
            .collect()
    }
}

impl Inside {
    fn run(&mut self, call: &Call<'_>) -> Result<Reply, String> {
        self.scripts += 1;
        let ends = self.memory == Memory::EndsOnce && !enqueues_several(call);
        let ends_at = ends.then_some((self.scripts.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) % 6);
        let mut run = Run { ends_at, full: self.memory == Memory::Full, needing: 0, calls: 0, hit: false };
        let answer = execute(&mut self.store, call, &mut run);
        super::truth::holds(&self.store);
        let most = self.calls.entry(call.script.name()).or_insert(0);
        *most = (*most).max(run.calls);
        if run.hit && self.memory == Memory::EndsOnce {
            assert!(answer.is_err(), "{:?} goes on without memory", call.script);
            *self.ended.entry(call.script.name()).or_insert(0) += 1;
            let mut again = Run { ends_at: None, full: false, needing: 0, calls: 0, hit: false };
            let answer = execute(&mut self.store, call, &mut again);
            super::truth::holds(&self.store);
            return answer;
        }
        answer
    }
}

/// Whether several jobs are enqueued. Rows before the one that memory ended are there, and the law has it that a job that
/// is queued is refused as such when it is asked for again.
fn enqueues_several(call: &Call<'_>) -> bool {
    let windows = |words: &[Vec<u8>]| String::from_utf8(words[1].clone()).unwrap().parse::<usize>().unwrap();
    call.script == Script::Enqueue && call.words.len() - 2 - 3 * windows(&call.words) > 4
}

#[async_trait]
impl Link for Strict {
    async fn script(&self, call: &Call<'_>) -> Result<Reply, Fault> {
        let answer = self.inside.lock().unwrap().run(call);
        answer.map_err(|error| {
            assert!(error.contains(OOM), "{:?}: {error}", call.script);
            Fault::ambiguous(call.doing, error)
        })
    }

    async fn command(&self, words: &[&[u8]], doing: &str) -> Result<Reply, Fault> {
        let words: Vec<Vec<u8>> = words.iter().map(|word| word.to_vec()).collect();
        let name = String::from_utf8(words[0].clone()).unwrap();
        let answer = self.inside.lock().unwrap().store.run(&name, &words[1..]);
        answer.map(plain).map_err(|error| Fault::ambiguous(doing, error))
    }

    fn lease_is(&self, _: u64) {}
}

fn plain(answer: Answer) -> Reply {
    match answer {
        Answer::Nil => Reply::Nil,
        Answer::Number(number) => Reply::Number(number),
        Answer::Text(text) => Reply::Bytes(text),
        Answer::List(list) => Reply::List(list.into_iter().map(plain).collect()),
    }
}

fn execute(store: &mut Store, call: &Call<'_>, run: &mut Run) -> Result<Reply, String> {
    let tags: std::collections::BTreeSet<_> = call.keys.iter().map(|key| tag(key)).collect();
    assert_eq!(tags.len(), 1, "{:?} has keys of several tags", call.script);
    LUA.with(|interpreter| interpreter.execute(store, call, run))
}

thread_local! {
    static LUA: Interpreter = Interpreter::new();
}

/// An interpreter and the scripts that it has read.
struct Interpreter {
    lua: Lua,
    scripts: std::cell::RefCell<BTreeMap<&'static str, mlua::Function>>,
}

impl Interpreter {
    fn new() -> Self {
        let lua = Lua::new();
        lua.load(STRICT).set_name("strict").exec().unwrap();
        Self { lua, scripts: std::cell::RefCell::default() }
    }

    fn script(&self, script: Script) -> mlua::Function {
        let read = || self.lua.load(script.text()).set_name(script.name()).into_function().unwrap();
        self.scripts.borrow_mut().entry(script.name()).or_insert_with(read).clone()
    }

    fn execute(&self, store: &mut Store, call: &Call<'_>, run: &mut Run) -> Result<Reply, String> {
        let lua = &self.lua;
        let script = self.script(call.script);
        let held = std::cell::RefCell::new((store, run));
        let ask = |caught: bool, words: Variadic<LuaValue>| {
            let mut held = held.borrow_mut();
            let (store, run) = &mut *held;
            command(store, run, &call.keys, (caught, words))
        };
        let answer = lua.scope(|scope| {
            let redis = lua.create_table()?;
            redis.set(
                "call",
                scope.create_function(|lua, words: Variadic<LuaValue>| match ask(false, words) {
                    Ok(answer) => to_lua(lua, answer),
                    Err(error) => Err(mlua::Error::runtime(error)),
                })?,
            )?;
            redis.set(
                "pcall",
                scope.create_function(|lua, words: Variadic<LuaValue>| match ask(true, words) {
                    Ok(answer) => to_lua(lua, answer),
                    Err(error) => {
                        let table = lua.create_table()?;
                        table.set("err", error)?;
                        Ok(LuaValue::Table(table))
                    }
                })?,
            )?;
            let globals = lua.globals();
            globals.raw_set("redis", redis)?;
            globals.raw_set("KEYS", list(lua, &call.keys)?)?;
            globals.raw_set("ARGV", list(lua, &call.arguments("server-1"))?)?;
            let value = script.call::<MultiValue>(())?;
            from_lua(value.into_iter().next().unwrap_or(LuaValue::Nil))
        });
        answer.map_err(|error| error.to_string())
    }
}

/// What Dragonfly has and Redis has not is taken away; globals are closed.
const STRICT: &str = r"
unpack = table.unpack
table.unpack, table.pack, table.move = nil, nil, nil
redis, KEYS, ARGV = {}, {}, {}
io, os, debug, package, require, load, loadfile, dofile, coroutine, utf8 = nil
setmetatable(_G, {
  __newindex = function(_, name) error('a global is made: ' .. tostring(name)) end,
  __index = function(_, name) error('there is no global: ' .. tostring(name)) end,
})
";

fn list(lua: &Lua, words: &[Vec<u8>]) -> mlua::Result<mlua::Table> {
    lua.create_sequence_from(words.iter().map(|word| lua.create_string(word).unwrap()))
}

fn command(
    store: &mut Store,
    run: &mut Run,
    declared: &[Vec<u8>],
    (caught, words): (bool, Variadic<LuaValue>),
) -> Result<Answer, String> {
    let mut words = words.into_iter().map(|word| match word {
        LuaValue::String(text) => text.as_bytes().to_vec(),
        LuaValue::Integer(number) => number.to_string().into_bytes(),
        // A whole number that passed through a division is written out all the same by both servers.
        LuaValue::Number(number) => panic!("a fraction as argument: {number}"),
        other => panic!("an argument that is neither text nor number: {other:?}"),
    });
    let name = String::from_utf8(words.next().unwrap()).unwrap();
    let words: Vec<_> = words.collect();
    run.calls += 1;
    for key in keys_of(&name, &words) {
        assert!(declared.contains(key), "an undeclared key: {}", String::from_utf8_lossy(key));
    }
    if needs_memory(&name) {
        let at = run.needing;
        run.needing += u64::from(!caught);
        if run.full || (!caught && run.ends_at == Some(at)) {
            run.hit = true;
            return Err(OOM.to_owned());
        }
    }
    store.run(&name, &words)
}

fn to_lua(lua: &Lua, answer: Answer) -> mlua::Result<LuaValue> {
    Ok(match answer {
        Answer::Nil => LuaValue::Boolean(false),
        Answer::Number(number) => LuaValue::Integer(number),
        Answer::Text(text) => LuaValue::String(lua.create_string(text)?),
        Answer::List(list) => {
            let table = lua.create_table()?;
            for (place, one) in list.into_iter().enumerate() {
                table.set(place + 1, to_lua(lua, one)?)?;
            }
            LuaValue::Table(table)
        }
    })
}

fn from_lua(value: LuaValue) -> mlua::Result<Reply> {
    Ok(match value {
        LuaValue::Nil | LuaValue::Boolean(false) => Reply::Nil,
        LuaValue::Integer(number) => Reply::Number(number),
        LuaValue::String(text) => Reply::Bytes(text.as_bytes().to_vec()),
        LuaValue::Table(table) => {
            Reply::List(table.sequence_values().map(|one| from_lua(one?)).collect::<mlua::Result<_>>()?)
        }
        other => panic!("no answer: {other:?}"),
    })
}
