//! Parses paths of the bridge.

use std::borrow::Cow;

use tenon_net::percent;

use super::config::SINGLE_SERVER;
use super::labels::BridgeLabels;
use crate::mcpo::docs_page;

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BridgeEndpoint<'a> {
    /// Of one server, or of all.
    Document(Option<Cow<'a, str>>),
    /// A page that shows it.
    Docs(Option<Cow<'a, str>>),
    /// A file of such a page.
    DocsFile(&'a str),
    /// All servers and tools, for programs.
    ToolList,
    /// One server over MCP, or all.
    Mcp(Option<Cow<'a, str>>, McpTransportPath),
    Tool {
        server: Cow<'a, str>,
        tool: Cow<'a, str>,
    },
    Unknown,
}

/// By which transport MCP is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum McpTransportPath {
    StreamableHttp,
    /// The stream of legacy SSE.
    Sse,
    /// Where its clients post.
    Messages,
}

impl McpTransportPath {
    fn parse(path: &str) -> Option<Self> {
        match path {
            "mcp" => Some(Self::StreamableHttp),
            "sse" => Some(Self::Sse),
            "messages" => Some(Self::Messages),
            _ => None,
        }
    }
}

impl<'a> BridgeEndpoint<'a> {
    pub(super) fn parse(path: &'a str, labels: &BridgeLabels) -> Self {
        // Some proxies leave the path they are at in place, others take it away.
        let path = path.strip_prefix(&labels.root_path).unwrap_or(path);
        match path {
            "/openapi.json" => return Self::Document(None),
            "/docs" => return Self::Docs(None),
            "/mcpo-tools-list" => return Self::ToolList,
            _ => {}
        }
        if let Some(file) = path.strip_prefix(docs_page::FOLDER)
            && docs_page::is_file(file)
        {
            return Self::DocsFile(file);
        }
        let transport = path.strip_prefix('/').and_then(McpTransportPath::parse);
        if let Some(transport) = transport {
            let server = labels.is_single.then_some(Cow::Borrowed(SINGLE_SERVER));
            return Self::Mcp(server, transport);
        }
        if labels.is_single {
            return match path.strip_prefix('/') {
                Some(tool) if !tool.is_empty() => Self::Tool {
                    server: Cow::Borrowed(SINGLE_SERVER),
                    tool: decode(tool),
                },
                _ => Self::Unknown,
            };
        }
        let below = path.strip_prefix(labels.path_prefix.as_str());
        let Some((server, rest)) = below.and_then(|below| below.split_once('/')) else {
            return Self::Unknown;
        };
        let server = decode(server);
        if let Some(transport) = McpTransportPath::parse(rest) {
            return Self::Mcp(Some(server), transport);
        }
        match rest {
            "" => Self::Unknown,
            "openapi.json" => Self::Document(Some(server)),
            "docs" => Self::Docs(Some(server)),
            tool => Self::Tool {
                server,
                tool: decode(tool),
            },
        }
    }
}

fn decode(part: &str) -> Cow<'_, str> {
    if part.contains('%') {
        let decoded = percent::decode(part);
        Cow::Owned(String::from_utf8_lossy(&decoded).into_owned())
    } else {
        Cow::Borrowed(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(path_prefix: &str, root_path: &str, is_single: bool) -> BridgeLabels {
        BridgeLabels {
            title: String::new(),
            version: String::new(),
            description: String::new(),
            root_path: root_path.to_owned(),
            path_prefix: path_prefix.to_owned(),
            has_key: false,
            is_single,
        }
    }

    #[test]
    fn a_path_names_a_document_or_a_tool() {
        let tool = |server: &'static str, tool: &'static str| BridgeEndpoint::Tool {
            server: server.into(),
            tool: tool.into(),
        };
        let check = |path: &str, labels: &BridgeLabels, expected: BridgeEndpoint<'_>| {
            assert_eq!(BridgeEndpoint::parse(path, labels), expected, "{path}");
        };
        let time = || Some(Cow::Borrowed("time"));
        let plain = labels("/", "", false);
        check("/openapi.json", &plain, BridgeEndpoint::Document(None));
        check("/docs", &plain, BridgeEndpoint::Docs(None));
        check("/mcpo-tools-list", &plain, BridgeEndpoint::ToolList);
        let (http, sse) = (McpTransportPath::StreamableHttp, McpTransportPath::Sse);
        check("/mcp", &plain, BridgeEndpoint::Mcp(None, http));
        check("/time/sse", &plain, BridgeEndpoint::Mcp(time(), sse));
        check(
            "/time/openapi.json",
            &plain,
            BridgeEndpoint::Document(time()),
        );
        check("/time/docs", &plain, BridgeEndpoint::Docs(time()));
        check(
            "/swagger/docs.js",
            &plain,
            BridgeEndpoint::DocsFile("docs.js"),
        );
        check("/swagger/other", &plain, tool("swagger", "other"));
        check("/time/get-sum", &plain, tool("time", "get-sum"));
        check("/my%20time/a/b", &plain, tool("my time", "a/b"));
        for nothing in ["/", "/time", "/time/"] {
            check(nothing, &plain, BridgeEndpoint::Unknown);
        }
        let prefixed = labels("/api/tools/", "", false);
        check("/api/tools/time/x", &prefixed, tool("time", "x"));
        check("/time/x", &prefixed, BridgeEndpoint::Unknown);
        let behind_proxy = labels("/", "/sub", false);
        check("/sub/time/x", &behind_proxy, tool("time", "x"));
        check("/time/x", &behind_proxy, tool("time", "x"));
        let single = labels("/", "", true);
        check("/get-sum", &single, tool(SINGLE_SERVER, "get-sum"));
        check("/", &single, BridgeEndpoint::Unknown);
    }
}
