//! The lossless tree: flat arrays of tokens and nodes over the text.
//!
//! Nodes are stored in preorder, each with the range of tokens it covers and the index behind its
//! last descendant. So a tree of any shape is two vectors: it is built in one pass, printed in
//! one pass, and dropped without recursion. Every byte of the text is in exactly one token, and
//! every token belongs to exactly one node, the innermost that covers it. No node but the root is
//! empty: what is missing is missing.

use std::fmt;
use std::sync::Arc;

use saltus_source::{FileId, Span};

use crate::kind::SyntaxKind;

/// A node: token range and subtree range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeData {
    pub kind: SyntaxKind,
    /// First token covered.
    pub first: u32,
    /// Behind the last token covered.
    pub end: u32,
    /// Behind the last node of the subtree.
    pub end_node: u32,
}

/// A parsed text with nothing left out.
#[derive(Clone)]
pub struct SyntaxTree {
    pub(crate) file: FileId,
    pub(crate) text: Arc<str>,
    pub(crate) token_kinds: Vec<SyntaxKind>,
    pub(crate) token_starts: Vec<u32>,
    pub(crate) nodes: Vec<NodeData>,
}

impl SyntaxTree {
    /// The root, a [`SyntaxKind::StoredDefinition`].
    pub fn root(&self) -> Node<'_> {
        Node { tree: self, index: 0 }
    }

    /// The text parsed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    fn token_end(&self, index: u32) -> u32 {
        let next = self.token_starts.get(index as usize + 1);
        next.map_or(self.text.len() as u32, |&start| start)
    }

    /// Visits the tree in the order of the text: each node when it is entered and left, each token
    /// (trivia included) once. Uses no recursion.
    pub fn walk<'t>(&'t self, mut visit: impl FnMut(Walk<'t>)) {
        let mut open: Vec<Node<'t>> = Vec::new();
        let mut next_token = 0;
        let mut tokens_until = |end: u32, visit: &mut dyn FnMut(Walk<'t>)| {
            for index in next_token..end {
                visit(Walk::Token(Token { tree: self, index }));
            }
            next_token = next_token.max(end);
        };
        for index in 0..self.nodes.len() as u32 {
            while let Some(&top) = open.last()
                && top.data().end_node <= index
            {
                tokens_until(top.data().end, &mut visit);
                visit(Walk::Leave(top));
                open.pop();
            }
            let node = Node { tree: self, index };
            tokens_until(node.data().first, &mut visit);
            visit(Walk::Enter(node));
            open.push(node);
        }
        while let Some(top) = open.pop() {
            tokens_until(top.data().end, &mut visit);
            visit(Walk::Leave(top));
        }
    }

    /// Checks the invariants: tokens tile the text, nodes nest, the root covers everything.
    pub fn validate(&self) -> Result<(), String> {
        let tokens = self.token_kinds.len() as u32;
        let starts = &self.token_starts;
        if starts.len() != self.token_kinds.len() || starts.first().is_some_and(|&s| s != 0) {
            return Err("tokens do not start at 0".to_owned());
        }
        if starts.windows(2).any(|pair| pair[0] >= pair[1])
            || starts.last().is_some_and(|&s| s as usize >= self.text.len())
            || (starts.is_empty() && !self.text.is_empty())
        {
            return Err("tokens do not tile the text".to_owned());
        }
        if let Some(bad) = starts.iter().find(|&&s| !self.text.is_char_boundary(s as usize)) {
            return Err(format!("token starts inside a character at {bad}"));
        }
        match self.nodes.first() {
            Some(root) if root.first == 0 && root.end == tokens => {}
            _ => return Err("the root does not cover the text".to_owned()),
        }
        let mut open: Vec<NodeData> = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            while open.last().is_some_and(|top| top.end_node as usize <= index) {
                open.pop();
            }
            let fits = open
                .last()
                .is_none_or(|top| node.first >= top.first && node.end <= top.end && node.end_node <= top.end_node);
            if !fits || node.first > node.end || node.end_node as usize <= index {
                return Err(format!("node {index} ({:?}) does not nest", node.kind));
            }
            open.push(*node);
        }
        Ok(())
    }

    /// The tree as nested JSON: `{"kind", "start", "end", "children": […]}`, tokens with `"text"`.
    pub fn to_json(&self) -> String {
        let mut out = String::with_capacity(self.text.len() * 8);
        let mut first = true;
        self.walk(|step| {
            if !matches!(step, Walk::Leave(_)) && !first {
                out.push(',');
            }
            match step {
                Walk::Enter(node) => {
                    let span = node.span();
                    out.push_str(&format!(
                        "{{\"kind\":\"{:?}\",\"start\":{},\"end\":{},\"children\":[",
                        node.kind(),
                        span.start,
                        span.end
                    ));
                    first = true;
                }
                Walk::Token(token) => {
                    let text = serde_json::to_string(token.text()).unwrap_or_default();
                    let (kind, start) = (token.kind(), token.span().start);
                    out.push_str(&format!("{{\"kind\":\"{kind:?}\",\"start\":{start},\"text\":{text}}}"));
                    first = false;
                }
                Walk::Leave(_) => {
                    out.push_str("]}");
                    first = false;
                }
            }
        });
        out
    }
}

/// Prints the tree: the text that was parsed, made from the tokens the nodes hold.
impl fmt::Display for SyntaxTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut result = Ok(());
        self.walk(|step| {
            if let (Walk::Token(token), Ok(())) = (step, result) {
                result = f.write_str(token.text());
            }
        });
        result
    }
}

/// An indented outline, trivia left out.
impl fmt::Debug for SyntaxTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut result = Ok(());
        let mut depth = 0;
        self.walk(|step| match step {
            Walk::Enter(node) => {
                result = result.and_then(|()| writeln!(f, "{:depth$}{:?}", "", node.kind()));
                depth += 2;
            }
            Walk::Leave(_) => depth -= 2,
            Walk::Token(token) if token.kind().is_trivia() => {}
            Walk::Token(token) => {
                let (kind, text) = (token.kind(), token.text());
                result = result.and_then(|()| writeln!(f, "{:depth$}{kind:?} {text:?}", ""));
            }
        });
        result
    }
}

/// A step of [`SyntaxTree::walk`].
#[derive(Clone, Copy, Debug)]
pub enum Walk<'t> {
    /// A node starts.
    Enter(Node<'t>),
    /// A token.
    Token(Token<'t>),
    /// A node ends.
    Leave(Node<'t>),
}

/// A node of a tree.
#[derive(Clone, Copy)]
pub struct Node<'t> {
    tree: &'t SyntaxTree,
    index: u32,
}

impl<'t> Node<'t> {
    fn data(self) -> NodeData {
        self.tree.nodes[self.index as usize]
    }

    /// What it is.
    pub fn kind(self) -> SyntaxKind {
        self.data().kind
    }

    /// From its first to its last token; no node but the root starts or ends with trivia.
    pub fn span(self) -> Span {
        let NodeData { first, end, .. } = self.data();
        let file = self.tree.file;
        if first == end {
            return Span::at(file, 0);
        }
        Span::new(
            file,
            self.tree.token_starts[first as usize],
            self.tree.token_end(end - 1),
        )
    }

    /// The text of [`Node::span`].
    pub fn text(self) -> &'t str {
        let span = self.span();
        &self.tree.text[span.start as usize..span.end as usize]
    }

    /// The nodes directly inside.
    pub fn children(self) -> impl Iterator<Item = Node<'t>> {
        let tree = self.tree;
        let end = self.data().end_node;
        let mut next = self.index + 1;
        std::iter::from_fn(move || {
            if next >= end {
                return None;
            }
            let index = next;
            next = tree.nodes[index as usize].end_node;
            Some(Node { tree, index })
        })
    }

    /// The first child of a kind.
    pub fn child(self, kind: SyntaxKind) -> Option<Node<'t>> {
        self.children().find(|node| node.kind() == kind)
    }

    /// Nodes and tokens directly inside, in order, without trivia.
    pub fn elements(self) -> impl Iterator<Item = SyntaxElement<'t>> {
        let tree = self.tree;
        let NodeData {
            first, end, end_node, ..
        } = self.data();
        let mut token = first;
        let mut node = self.index + 1;
        std::iter::from_fn(move || {
            loop {
                if node < end_node && tree.nodes[node as usize].first <= token {
                    let child = Node { tree, index: node };
                    node = child.data().end_node;
                    token = token.max(child.data().end);
                    return Some(SyntaxElement::Node(child));
                }
                if token >= end {
                    return None;
                }
                token += 1;
                if !tree.token_kinds[token as usize - 1].is_trivia() {
                    let index = token - 1;
                    return Some(SyntaxElement::Token(Token { tree, index }));
                }
            }
        })
    }

    /// The tokens directly inside, without trivia.
    pub fn tokens(self) -> impl Iterator<Item = Token<'t>> {
        self.elements().filter_map(|element| match element {
            SyntaxElement::Token(token) => Some(token),
            SyntaxElement::Node(_) => None,
        })
    }

    /// The first token of a kind directly inside.
    pub fn token(self, kind: SyntaxKind) -> Option<Token<'t>> {
        self.tokens().find(|token| token.kind() == kind)
    }

    /// Whether there is a token of this kind directly inside.
    pub fn has(self, kind: SyntaxKind) -> bool {
        self.token(kind).is_some()
    }
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}@{:?}", self.kind(), self.span())
    }
}

/// A token of a tree.
#[derive(Clone, Copy)]
pub struct Token<'t> {
    tree: &'t SyntaxTree,
    index: u32,
}

impl<'t> Token<'t> {
    /// What it is.
    pub fn kind(self) -> SyntaxKind {
        self.tree.token_kinds[self.index as usize]
    }

    /// Where it is.
    pub fn span(self) -> Span {
        let start = self.tree.token_starts[self.index as usize];
        Span::new(self.tree.file, start, self.tree.token_end(self.index))
    }

    /// Its text.
    pub fn text(self) -> &'t str {
        let span = self.span();
        &self.tree.text[span.start as usize..span.end as usize]
    }
}

impl fmt::Debug for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.kind(), self.text())
    }
}

/// A node or a token.
#[derive(Clone, Copy, Debug)]
pub enum SyntaxElement<'t> {
    /// A node.
    Node(Node<'t>),
    /// A token.
    Token(Token<'t>),
}
