//! Paths that demands are given, whatever shortest paths are.
//!
//! A path is used while all of its links work. When one fails, what was on the path is routed as all other traffic is,
//! as a label-switched path without protection is; it returns when all work again.
//!
//! **Source**: E. Rosen, A. Viswanathan, R. Callon, "Multiprotocol Label Switching Architecture", RFC 3031,
//! section 3.21 (explicitly routed paths).

use super::{Failure, Igp, Rows};

/// Paths of some pairs of a matrix, at most one for each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    pair: Vec<u32>,
    offsets: Vec<u32>,
    links: Vec<u32>,
}

impl Given {
    /// Pairs, each with the links of its path.
    pub fn new<'a>(paths: impl IntoIterator<Item = (u32, &'a [u32])>) -> Self {
        let mut fixed_paths = Self { offsets: vec![0], ..Self::default() };
        for (pair, links) in paths {
            fixed_paths.pair.push(pair);
            fixed_paths.links.extend(links);
            fixed_paths.offsets.push(fixed_paths.links.len() as u32);
        }
        fixed_paths
    }

    /// Pairs and the links of their paths.
    pub(super) fn paths(&self) -> impl Iterator<Item = (u32, &[u32])> + '_ {
        (0..self.pair.len()).map(|path| (self.pair[path], self.links(path)))
    }

    #[inline]
    fn links(&self, path: usize) -> &[u32] {
        &self.links[self.offsets[path] as usize..self.offsets[path + 1] as usize]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pair.is_empty()
    }

    /// Without the paths of which a link is not up.
    pub(super) fn over(&self, up: &[bool]) -> Self {
        Self::new(self.paths().filter(|(_, links)| links.iter().all(|&link| up[link as usize])))
    }
}

/// Given paths by the links that they cross.
pub(super) struct Crossed<'a> {
    fixed_paths: &'a Given,
    by_link: Rows,
}

impl<'a> Crossed<'a> {
    pub(super) fn new(igp: &Igp, fixed_paths: &'a Given) -> Self {
        let crossings = (0..fixed_paths.pair.len())
            .flat_map(|path| fixed_paths.links(path).iter().map(move |&link| (link, path as u32)));
        Self { fixed_paths, by_link: Rows::group(igp.links(), crossings) }
    }

    /// Pairs whose paths a failure breaks, and the links of these.
    pub(super) fn broken_by(&self, failure: &Failure) -> Vec<(u32, &'a [u32])> {
        let mut paths: Vec<u32> =
            failure.links.iter().flat_map(|&l| self.by_link.of(l)).copied().collect();
        paths.sort_unstable();
        paths.dedup();
        let fixed_paths = self.fixed_paths;
        paths
            .iter()
            .map(|&p| (fixed_paths.pair[p as usize], fixed_paths.links(p as usize)))
            .collect()
    }
}
