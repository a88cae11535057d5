// The tree of groups in memory: nodes, the three plain steps that change it, and which lines it shows.

export class Groups {
  // A node: {label, up, below (a list, or null for an item), open, size, line, depth}.
  constructor(sent) {
    const nodes = sent.labels.map((label) => ({ label, up: null, below: null, open: false, size: 0, line: -1, depth: 0 }));
    for (const at of sent.groups) nodes[at].below = [];
    nodes.forEach((node, at) => {
      if (sent.up[at] < 0) return;
      node.up = nodes[sent.up[at]];
      node.up.below.push(node);
    });
    this.root = nodes[0];
    this.root.open = true;
    this.byLabel = new Map(nodes.map((node) => [node.label, node]));
    this.recount();
  }

  get(label) {
    return this.byLabel.get(label);
  }

  // Open what was open in the tree before.
  openAs(before) {
    for (const node of before.byLabel.values()) {
      const now = this.byLabel.get(node.label);
      if (now && node.open) now.open = true;
    }
    this.layOut();
  }

  // Take a plain step, as the server has made it.
  take(step) {
    if (step.do === "rename") this.#rename(step.node, step.name);
    else if (step.do === "order") this.#order(step.group, step.children);
    else this.#place(step.places);
    this.recount();
  }

  #rename(label, name) {
    const node = this.byLabel.get(label);
    this.byLabel.delete(label);
    node.label = name;
    this.byLabel.set(name, node);
  }

  #order(label, labels) {
    this.byLabel.get(label).below = labels.map((one) => this.byLabel.get(one));
  }

  #place(places) {
    const moved = new Set(places.map(([label]) => this.byLabel.get(label)).filter(Boolean));
    for (const up of new Set([...moved].map((node) => node.up))) {
      up.below = up.below.filter((node) => !moved.has(node));
    }
    for (const [label, kind, under] of places) {
      if (under === null) {
        const node = this.byLabel.get(label);
        node.up = null;
        this.byLabel.delete(label);
      } else if (!this.byLabel.has(label)) {
        this.byLabel.set(label, { label, up: null, below: kind === "group" ? [] : null, open: false, size: 0, line: -1, depth: 0 });
      }
    }
    for (const [label, , under, at] of places) {
      if (under === null) continue;
      const node = this.byLabel.get(label);
      node.up = this.byLabel.get(under);
      node.up.below.splice(at, 0, node);
    }
  }

  // Count the items under each group, and lay out the lines again.
  recount() {
    const order = [this.root];
    for (const node of order) if (node.below) for (const child of node.below) order.push(child);
    for (let i = order.length - 1; i >= 0; i -= 1) {
      const node = order[i];
      if (!node.below) node.size = 1;
      else {
        node.size = 0;
        for (const child of node.below) node.size += child.size;
      }
    }
    this.layOut();
  }

  // List the nodes that are shown: those under open groups.
  layOut() {
    for (const node of this.lines ?? []) node.line = -1;
    this.lines = [];
    const stack = [this.root];
    this.root.depth = 1;
    while (stack.length) {
      const node = stack.pop();
      node.line = this.lines.length;
      this.lines.push(node);
      if (!node.below || !node.open) continue;
      for (let i = node.below.length - 1; i >= 0; i -= 1) {
        node.below[i].depth = node.depth + 1;
        stack.push(node.below[i]);
      }
    }
  }

  reveal(node) {
    let changed = false;
    for (let up = node.up; up; up = up.up) {
      changed ||= !up.open;
      up.open = true;
    }
    if (changed) this.layOut();
  }

  // The way up from a node, nearest group first.
  above(node) {
    const way = [];
    for (let up = node.up; up; up = up.up) way.push(up);
    return way;
  }

  groups() {
    return [...this.byLabel.values()].filter((node) => node.below);
  }

  // Find labels that contain a text, in tree order.
  find(text) {
    const wanted = text.toLowerCase();
    const found = [];
    const stack = [this.root];
    while (stack.length) {
      const node = stack.pop();
      if (node.label.toLowerCase().includes(wanted)) found.push(node);
      if (node.below) for (let i = node.below.length - 1; i >= 0; i -= 1) stack.push(node.below[i]);
    }
    return found;
  }
}
