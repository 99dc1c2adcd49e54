//! x
use crate::task::Flags;
pub(crate) fn run(_flags: &Flags) -> anyhow::Result<()> {
    anyhow::bail!("later")
}
