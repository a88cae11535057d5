"""Top-down partitioning of rows by a hierarchy: the loops of local generalization."""

from __future__ import annotations

import numpy as np

from setveil.base.jit import compiled

# Places in `state`, kept between calls: parts, rows, nodes that wait; copies, nodes, parts done; splits.
PARTS, ROWS, NODES, COPIES_DONE, NODES_DONE, PARTS_DONE, SPLITS = range(7)

NEVER = -1  # instead of a gain: no set of children is held by k rows, nor will it be in fewer rows


@compiled
def partition_top_down(rows, tree, k, waiting, done, state, budget):
    """Go on partitioning into parts of at least k rows until no part waits, or for about `budget` steps.

    - rows: int64 (n + 1,), int32, distinct, in item order, as ascending positions in the leaf order; none
      empty
    - tree: int32 (n_nodes,), int64 (n_nodes,), int64 (n_nodes + 1,), int64: where the leaves under each node
      end; the cost of an occurrence published as it; its children in tree order, never a single one
    - waiting: int64 (copies,), int64 (copies,), int64, bool, int64, int64, written: distinct rows of each
      part, and how many copies; its nodes in tree order, which may yet be expanded; where rows and nodes
      begin
    - done: int64 (n,), int64 (copies,), int64, int64, written: where the next copy of each row is among all
      copies; for each copy its part; where the nodes of each part end; the nodes
    """
    indptr, places = rows
    row, copies, node, alive, first_row, first_node = waiting
    n = indptr.size - 1
    # Row e of a part holds the children found[at[c] : at[c + 1]] of the part's node j, c = e * n_nodes + j,
    # and expanding j lowers the cost of each copy of e by gain[c].
    found, gain = np.empty(places.size, np.int64), np.empty(places.size, np.int64)
    at = np.zeros(places.size + 1, np.int64)
    table = np.empty(4 * n + 4, np.int64)
    group, leader, stay = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    best_group, best_leader, best_stay = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    steps = 0
    while state[PARTS] > 0 and steps < budget:
        state[PARTS] -= 1
        r0, r1 = first_row[state[PARTS]], state[ROWS]
        n0, n1 = first_node[state[PARTS]], state[NODES]
        n_rows = r1 - r0
        total = np.int64(0)
        for r in range(r0, r1):
            total += copies[r]

        # Expand the nodes under which all rows hold the same children: that parts nobody.
        expanded = True
        while expanded:
            steps += _find_children(rows, tree, row[r0:r1], node[n0:n1], alive[n0:n1], found, at, gain)
            n1, expanded = _expand_shared(tree[2], node, alive, n0, n1, n_rows, found, at)
        n_nodes = n1 - n0

        # The node whose expansion gains most. Fewer than 2k rows cannot be parted.
        best, best_gain, best_groups = -1, np.int64(0), np.int64(0)
        for j in range(n_nodes if total >= 2 * k else 0):
            if not alive[n0 + j]:
                continue
            groups = _group_rows(n_rows, n_nodes, j, found, at, table, group, leader)
            here = _pool(copies[r0:r1], gain, n_nodes, j, k, group, groups, stay)
            if here == NEVER:
                alive[n0 + j] = False
            elif here > best_gain or (here == best_gain and best >= 0 and node[n0 + j] < node[n0 + best]):
                best, best_gain, best_groups = j, here, groups
                group, best_group = best_group, group
                leader, best_leader = best_leader, leader
                stay, best_stay = best_stay, stay

        state[ROWS], state[NODES] = r0, n0
        if best < 0:
            _publish(row[r0:r1], copies[r0:r1], node[n0:n1], done, state)
        else:
            parting = best, best_groups, best_group, best_leader, best_stay
            _split(tree[2], waiting, state, r1, n1, parting, found, at)


@compiled
def _find_children(rows, tree, row, node, alive, found, at, gain):
    """Find the children that each row holds under each node that may be expanded; return the steps taken."""
    indptr, places = rows
    high, cost, starts, children = tree
    size, cell = 0, 0
    for r in row:
        p, end = indptr[r], indptr[r + 1]
        for j in range(node.size):
            v = node[j]
            to, last = high[v], starts[v + 1] - 1
            child = starts[v]
            gain[cell] = 0
            if not alive[j]:
                while p < end and places[p] < to:
                    p += 1
            while p < end and places[p] < to:
                # The first child, from where the last one was, whose leaves end behind this place.
                far = last
                while child < far:
                    middle = (child + far) // 2
                    if high[children[middle]] > places[p]:
                        far = middle
                    else:
                        child = middle + 1
                c = children[child]
                found[size] = c
                size += 1
                child_end = high[c]
                while p < end and places[p] < child_end:
                    gain[cell] += cost[v] - cost[c]
                    p += 1
                child += 1
            cell += 1
            at[cell] = size
    return cell + size


@compiled
def _expand_shared(starts, node, alive, n0, n1, n_rows, found, at):
    """Expand the last part's nodes whose children are the same in all rows; return the nodes' new end."""
    n_nodes = n1 - n0
    shared = np.empty(n_nodes, np.bool_)
    some = False
    for j in range(n_nodes):
        e = np.int64(0)
        while alive[n0 + j] and e < n_rows and _same(found, at, j, e * n_nodes + j):
            e += 1
        shared[j] = e == n_rows
        some = some or shared[j]
    if not some:
        return n1, False
    old_node, old_alive = node[n0:n1].copy(), alive[n0:n1].copy()
    end = n0
    for j in range(n_nodes):
        end = _append_nodes(starts, node, alive, end, old_node[j], old_alive[j], shared[j], found, at, j)
    return end, True


@compiled
def _append_nodes(starts, node, alive, end, v, may, expand, found, at, cell):
    """Write node v, or the children of it found in a cell, behind the nodes; return the nodes' new end."""
    if not expand:
        node[end], alive[end] = v, may
        return end + 1
    for i in range(at[cell], at[cell + 1]):
        node[end] = found[i]
        alive[end] = starts[found[i] + 1] > starts[found[i]]
        end += 1
    return end


@compiled
def _same(found, at, a, b):
    """Decide whether two cells have the same children."""
    p, q = at[a], at[b]
    if at[a + 1] - p != at[b + 1] - q:
        return False
    while p < at[a + 1] and found[p] == found[q]:
        p, q = p + 1, q + 1
    return p == at[a + 1]


@compiled
def _group_rows(n_rows, n_nodes, j, found, at, table, group, leader):
    """Group the rows by the children of node j that they hold, in order of appearance; return how many."""
    slots = 1
    while slots < 2 * n_rows:
        slots *= 2
    for i in range(slots):
        table[i] = -1
    groups = np.int64(0)
    for e in range(n_rows):
        cell = e * n_nodes + j
        h = np.uint64(at[cell + 1] - at[cell])
        for i in range(at[cell], at[cell + 1]):
            h = (h ^ np.uint64(found[i])) * np.uint64(0x9E3779B97F4A7C15)
            h ^= h >> np.uint64(29)
        slot = np.int64(h & np.uint64(slots - 1))
        while table[slot] >= 0 and not _same(found, at, leader[table[slot]] * n_nodes + j, cell):
            slot = (slot + 1) % slots
        if table[slot] < 0:
            table[slot] = groups
            leader[groups] = e
            groups += 1
        group[e] = table[slot]
    return groups


@compiled
def _pool(copies, gain, n_nodes, j, k, group, groups, stay):
    """Decide how many copies of each row go with their group, the others staying behind; return the gain."""
    size, group_gain = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    for e in range(copies.size):
        size[group[e]] += copies[e]
        group_gain[group[e]] += copies[e] * gain[e * n_nodes + j]
    behind, spare, least = np.int64(0), np.int64(0), -1
    for g in range(groups):
        if size[g] < k:
            behind += size[g]
        else:
            spare += size[g] - k
            if least < 0 or group_gain[g] < group_gain[least]:
                least = g
    if least < 0:
        return NEVER
    missing = k - behind if behind > 0 else np.int64(0)
    if missing > spare:  # a whole group stays behind; of at least 2k rows, another is left
        size[least] = 0
    total = np.int64(0)
    for e in range(copies.size):
        stay[e] = copies[e] if size[group[e]] >= k else 0
        total += stay[e] * gain[e * n_nodes + j]
    if 0 < missing <= spare:  # rows of larger groups stay behind, one after the other off a heap
        heap = np.empty(copies.size, np.int64)
        number = np.int64(0)
        for e in range(copies.size):
            if size[group[e]] > k:
                heap[number] = e
                number += 1
        for i in range(number // 2 - 1, -1, -1):
            _sift(heap, number, i, copies, gain, n_nodes, j)
        while missing > 0:
            e = heap[0]
            moved = min(missing, size[group[e]] - k, copies[e])
            size[group[e]] -= moved
            stay[e] -= moved
            missing -= moved
            total -= moved * gain[e * n_nodes + j]
            number -= 1
            heap[0] = heap[number]
            _sift(heap, number, 0, copies, gain, n_nodes, j)
    return total


@compiled
def _sift(heap, size, i, copies, gain, n_nodes, j):
    """Let a row sink in a heap by its gain from expanding node j, number of copies, and item order."""
    e = heap[i]
    while 2 * i + 1 < size:
        c = 2 * i + 1
        if c + 1 < size and _earlier(heap[c + 1], heap[c], copies, gain, n_nodes, j):
            c += 1
        if not _earlier(heap[c], e, copies, gain, n_nodes, j):
            break
        heap[i] = heap[c]
        i = c
    heap[i] = e


@compiled
def _earlier(d, e, copies, gain, n_nodes, j):
    """Tell whether row d stays behind before row e does."""
    gain_d, gain_e = gain[d * n_nodes + j], gain[e * n_nodes + j]
    if gain_d != gain_e:
        return gain_d < gain_e
    return copies[d] < copies[e] or (copies[d] == copies[e] and d < e)


@compiled
def _publish(row, copies, node, done, state):
    """Give a part its number and its nodes."""
    next_copy, part_of, node_ends, nodes = done
    for e in range(row.size):
        for _ in range(copies[e]):
            part_of[next_copy[row[e]]] = state[PARTS_DONE]
            next_copy[row[e]] += 1
        state[COPIES_DONE] += copies[e]
    for v in node:
        nodes[state[NODES_DONE]] = v
        state[NODES_DONE] += 1
    node_ends[state[PARTS_DONE]] = state[NODES_DONE]
    state[PARTS_DONE] += 1


@compiled
def _split(starts, waiting, state, r1, n1, parting, found, at):
    """Replace the part at the end by one part for each group and one of the rows that stay behind."""
    row, copies, node, alive, first_row, first_node = waiting
    expanded, groups, group, leader, stay = parting
    r0, n0 = state[ROWS], state[NODES]
    old_row, old_copies = row[r0:r1].copy(), copies[r0:r1].copy()
    old_node, old_alive = node[n0:n1].copy(), alive[n0:n1].copy()
    size = np.zeros(groups + 1, np.int64)  # distinct rows; the last group stays behind
    for e in range(old_row.size):
        size[group[e]] += stay[e] > 0
        size[groups] += stay[e] < old_copies[e]
    state[SPLITS] += 1
    for g in range(groups + 1):
        if size[g] == 0:
            continue
        first_row[state[PARTS]], first_node[state[PARTS]] = state[ROWS], state[NODES]
        state[PARTS] += 1
        for j in range(old_node.size):
            expand = j == expanded and g < groups
            may = old_alive[j] and j != expanded  # fewer than k of those behind hold the same children
            cell = leader[g] * old_node.size + j if expand else np.int64(0)
            state[NODES] = _append_nodes(
                starts, node, alive, state[NODES], old_node[j], may, expand, found, at, cell
            )
        size[g], state[ROWS] = state[ROWS], state[ROWS] + size[g]  # from now on where its next row goes
    for e in range(old_row.size):
        for g, number in ((group[e], stay[e]), (groups, old_copies[e] - stay[e])):
            if number > 0:
                row[size[g]], copies[size[g]] = old_row[e], number
                size[g] += 1


@compiled
def nodes_of_occurrences(indptr, items, place, part_of, node_ends, nodes, low, out):
    """For each occurrence find the node of its row's part that stands above its place in the tree."""
    for row in range(indptr.size - 1):
        part = part_of[row]
        begin = node_ends[part - 1] if part > 0 else np.int64(0)
        for p in range(indptr[row], indptr[row + 1]):
            first, last = begin, node_ends[part] - 1
            while first < last:
                middle = (first + last + 1) // 2
                if low[nodes[middle]] <= place[items[p]]:
                    first = middle
                else:
                    last = middle - 1
            out[p] = nodes[first]
