//! How the bridge names and addresses itself.

/// What documents say of the bridge itself.
#[derive(Debug)]
pub(super) struct BridgeLabels {
    pub(super) title: String,
    pub(super) version: String,
    pub(super) description: String,
    /// Where a proxy has put all of it; empty: nowhere.
    pub(super) root_path: String,
    /// With a slash at both ends.
    pub(super) path_prefix: String,
    pub(super) has_key: bool,
    /// Whether there is one server, at the root.
    pub(super) is_single: bool,
}

impl BridgeLabels {
    /// Where the paths of a server begin, as clients see it.
    pub(super) fn path_of(&self, server: &str) -> String {
        if self.is_single {
            return self.root_path.clone();
        }
        format!("{}{}{server}", self.root_path, self.path_prefix)
    }
}
