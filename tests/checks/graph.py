# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
graph: circles in {node: {node: {why}}}, for the checks in tests/source.
"""


def circle(graph):
    """The nodes of one circle, or None."""
    done = set()

    def visit(at, path):
        if at in path:
            return path[path.index(at):]
        if at in done:
            return None
        done.add(at)
        for to in sorted(graph.get(at, {})):
            if hit := visit(to, path + [at]):
                return hit
        return None
    return next((hit for at in sorted(graph) if (hit := visit(at, []))), None)


def around(graph):
    """The reasons for the edges that make up a circle, if there is one."""
    ring = circle(graph) or []
    return [line for at, to in zip(ring, ring[1:] + ring[:1]) for line in sorted(graph[at][to])]
