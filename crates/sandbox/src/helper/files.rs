//! Landlock: which files may be opened, and how. It also keeps signals and abstract sockets
//! inside, and refuses TCP where there is to be no network.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::path_rules::{PathAccess, PathRule};
use super::setup_failure::SetupFailure;
use crate::command::NetworkAccess;
use crate::error::SetupStep;

/// The newest that is tested. Older kernels do less of it.
const NEWEST: ABI = ABI::V6;

/// Returns the version that is enforced, 0 for none.
pub(super) fn restrict(rules: &[PathRule], network: NetworkAccess) -> Result<u32, SetupFailure> {
    enforce(rules, network).map_err(|error| SetupFailure::new(SetupStep::Files, &error))
}

fn enforce(rules: &[PathRule], network: NetworkAccess) -> Result<u32, RulesetError> {
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    if network == NetworkAccess::None {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut ruleset = ruleset.create()?;
    for access in [PathAccess::Read, PathAccess::Write, PathAccess::Device] {
        let paths = rules.iter().filter(|rule| rule.access == access);
        let paths = paths.map(|rule| &rule.path);
        ruleset = ruleset.add_rules(path_beneath_rules(paths, rights(access)))?;
    }
    let status = ruleset.restrict_self()?;
    Ok(match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => 0,
        (_, LandlockStatus::Available { effective_abi, .. }) => effective_abi as u32,
        _ => 0,
    })
}

fn rights(access: PathAccess) -> BitFlags<AccessFs> {
    match access {
        PathAccess::Read => AccessFs::from_read(NEWEST),
        PathAccess::Write => AccessFs::from_all(NEWEST),
        PathAccess::Device => AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev,
    }
}
