//! stub
use anyhow::bail;
/// stub
pub(crate) fn run(args: Vec<String>) -> anyhow::Result<()> {
    if args.first().map(String::as_str) == Some("--write") {
        for b in model::BOUNDS.iter().filter(|b| b.violated.is_none()) {
            std::fs::write(format!("/work/main/spec/models/{}.cfg", b.name), b.tlc_config())?;
        }
        return Ok(());
    }
    bail!("not yet")
}
/// stub
pub(crate) fn run_where(_args: Vec<String>) -> anyhow::Result<()> {
    bail!("not yet")
}
