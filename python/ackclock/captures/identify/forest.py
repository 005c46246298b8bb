"""A forest of decision trees as arrays: trained by scikit-learn, stored, and used without it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ackclock.captures.trace import Floats

__all__ = ["Forest", "grow"]

_LEAF = 255
"""In place of a feature: the node is a leaf."""


@dataclass(frozen=True)
class Forest:
    """Trees whose nodes are in preorder: what goes left is in the next node.

    Parameters
    ----------
    features
        By node the number of the feature that is compared, or `_LEAF`.
    numbers
        By node the largest value that goes left; in a leaf the row of `votes`.
    rights
        By node the node of what goes right; in a leaf the leaf itself.
    roots
        First node of each tree.
    votes
        Shares of the classes in leaves, a row each.
    classes
        Names of the classes.
    """

    features: Any
    numbers: Any
    rights: Any
    roots: Any
    votes: Floats
    classes: list[str]

    def vote(self, rows: Floats) -> Floats:
        """Compute the mean of what the trees vote, a share for each class.

        Parameters
        ----------
        rows
            Features.
        """
        nodes = np.tile(self.roots, (len(rows), 1))
        samples = np.broadcast_to(np.arange(len(rows))[:, None], nodes.shape)
        while True:
            features = self.features[nodes]
            inner = features != _LEAF
            if not inner.any():
                break
            values = rows[samples, np.where(inner, features, 0)]
            left = inner & (values <= self.numbers[nodes])
            nodes = np.where(left, nodes + 1, self.rights[nodes])
        leaves = self.numbers[nodes].astype(int)
        counts = np.array([np.bincount(row, minlength=len(self.votes)) for row in leaves])
        result: Floats = counts @ self.votes / len(self.roots)
        return result

    def pack(self) -> dict[str, Any]:
        """Give the arrays that `unpack` reads."""
        return {
            "tree_features": self.features.astype(np.uint8),
            "tree_numbers": self.numbers.astype(np.float16),
            "tree_roots": self.roots.astype(np.int32),
            "tree_votes": self.votes,
            "classes": np.asarray(self.classes),
        }

    @classmethod
    def unpack(cls, arrays: Mapping[str, Any]) -> Forest:
        """Read a forest.

        Parameters
        ----------
        arrays
            As `pack` gives them.
        """
        features = arrays["tree_features"].astype(np.intp)
        return cls(
            features, arrays["tree_numbers"].astype(float), _find_rights(features),
            arrays["tree_roots"].astype(np.intp), arrays["tree_votes"],
            [str(name) for name in arrays["classes"]],
        )  # fmt: skip


def _find_rights(features: Any) -> Any:
    """Find what follows the left part of each node, from the last node on."""
    rights = np.arange(len(features))
    ends: list[int] = []
    for node in range(len(features) - 1, -1, -1):
        if features[node] == _LEAF:
            ends.append(node + 1)
        else:
            rights[node] = ends.pop()
    return rights


def grow(rows: Floats, names: Sequence[str], trees: int, seed: int) -> Forest:
    """Train extremely randomised trees.

    Thresholds are rounded down to half precision. Rows of that precision go the same ways.

    Parameters
    ----------
    rows
        Features, of half precision.
    names
        Classes of the rows.
    trees
        Number of trees.
    seed
        Of the draws.
    """
    from sklearn.ensemble import ExtraTreesClassifier

    fitted = ExtraTreesClassifier(
        trees, min_samples_leaf=1, max_features=0.3, random_state=seed, n_jobs=1
    ).fit(rows, np.asarray(names))
    trees_ = [estimator.tree_ for estimator in fitted.estimators_]
    features = np.concatenate([np.where(t.children_left < 0, _LEAF, t.feature) for t in trees_])
    is_leaf = features == _LEAF
    shares = np.concatenate([tree.value[:, 0, :] for tree in trees_])[is_leaf]
    votes, rows_of_votes = np.unique(np.round(shares, 6), axis=0, return_inverse=True)
    numbers = _round_down(np.concatenate([tree.threshold for tree in trees_]))
    numbers[is_leaf] = rows_of_votes.ravel()
    ends = np.cumsum([tree.node_count for tree in trees_])
    roots = np.concatenate([[0], ends[:-1]]).astype(np.intp)
    names_of_classes = [str(name) for name in fitted.classes_]
    return Forest(
        features.astype(np.intp), numbers, _find_rights(features), roots, votes, names_of_classes
    )


def _round_down(values: Floats) -> Floats:
    """Round to the next half-precision number that is not above."""
    half = np.asarray(values, np.float16)
    above = half.astype(float) > values
    half[above] = np.nextafter(half[above], np.float16(-np.inf))
    result: Floats = half.astype(float)
    return result
