// Message passing in a tree from the leaves to the root: the likelihood of the known values at and below a node, for each
// value of its parent. Only messages that a new question changes are recomputed.
//
// A node's table contains, for each class, a row for every value of its parent (one row for the root) with the
// probabilities of the node's values.
class TreeMessages {
  constructor(parent, order, tables, arity, classes) {
    const n = parent.length;
    Object.assign(this, { parent, order, tables, arity, classes });
    this.rows = Int32Array.from(parent, (p) => (p < 0 ? 1 : arity[p]));
    this.start = new Int32Array(n + 1);
    for (let u = 0; u < n; u++) this.start[u + 1] = this.start[u] + this.rows[u] * classes;
    this.message = new Float64Array(this.start[n]);
    this.logs = new Float64Array(n * classes); // what a message was divided by
    this.codes = new Int32Array(n).fill(UNKNOWN);
    this.told = new Uint8Array(n); // whether a node sends a message
    this.stale = new Uint8Array(n);
    this.unfit = new Uint8Array(n); // whether something is too small for a message
    this.first = new Int32Array(n + 1); // of a node's children
    for (const p of parent) if (p >= 0) this.first[p + 1]++;
    for (let u = 0; u < n; u++) this.first[u + 1] += this.first[u];
    this.below = new Int32Array(this.first[n]);
    const next = this.first.slice();
    parent.forEach((p, u) => p >= 0 && (this.below[next[p]++] = u));
    this.room = new Float64Array(Math.max(1, ...arity));
  }

  // Update the messages for new values; return false if a message would underflow.
  ask(codes) {
    const { order, parent, stale } = this;
    for (let at = order.length - 1; at >= 0; at--) {
      const u = order[at];
      const moved = codes[u] !== this.codes[u];
      if (!moved && !stale[u]) continue;
      stale[u] = 0;
      this.codes[u] = codes[u];
      this.unfit[u] = 0;
      const changed = codes[u] === UNKNOWN ? this.#sendUnknown(u) : this.#sendKnown(u, moved);
      if (changed && parent[u] >= 0) stale[parent[u]] = 1;
    }
    return !this.unfit.includes(1);
  }

  // The scaled likelihood of the known values at and below a node, for a value of its parent.
  said(u, k, value) {
    return this.message[this.start[u] + k * this.rows[u] + value];
  }

  // The logarithm of the sum over all unknown values.
  total(k) {
    const n = this.parent.length;
    let sum = 0;
    for (let at = k * n; at < (k + 1) * n; at++) sum += this.logs[at];
    return sum;
  }

  #sendKnown(u, moved) {
    const { classes, message, told, start, first, below, logs } = this;
    const n = this.parent.length;
    const values = this.arity[u], rows = this.rows[u], table = this.tables[u], value = this.codes[u];
    for (let k = 0; k < classes; k++) {
      let product = this.parent[u] < 0 ? table[k * values + value] : 1;
      let log = 0;
      for (let at = first[u]; at < first[u + 1]; at++) {
        const child = below[at];
        if (!told[child]) continue;
        product *= message[start[child] + k * values + value];
        if (product < 1e-100) {
          log += Math.log(product);
          product = 1;
        }
      }
      logs[k * n + u] = log += Math.log(product);
      if (log === -Infinity) this.unfit[u] = 1;
      if (!moved) continue;
      for (let j = 0; j < rows; j++) message[start[u] + k * rows + j] = table[(k * rows + j) * values + value];
    }
    told[u] = 1;
    return moved;
  }

  #sendUnknown(u) {
    const { classes, message, told, start, room, first, below, logs } = this;
    const n = this.parent.length;
    const values = this.arity[u], rows = this.rows[u], table = this.tables[u];
    const before = told[u];
    let many = 0;
    let teller = 0;
    for (let at = first[u]; at < first[u + 1]; at++) {
      if (!told[below[at]]) continue;
      teller = below[at];
      many++;
    }
    told[u] = many ? 1 : 0;
    if (!many) {
      for (let k = 0; k < classes; k++) logs[k * n + u] = 0;
      return before;
    }
    for (let k = 0; k < classes; k++) {
      // The message of a single child is used unchanged; those of several children are multiplied.
      const log = many > 1 ? this.#multiply(u, k) : 0;
      const said = many > 1 ? room : message;
      const from = many > 1 ? 0 : start[teller] + k * values;
      for (let j = 0, at = k * rows * values, to = start[u] + k * rows; j < rows; j++, to++) {
        let sum = 0;
        for (let i = from; i < from + values; i++, at++) sum += said[i] * table[at];
        message[to] = sum;
      }
      logs[k * n + u] = this.parent[u] < 0 ? log + Math.log(message[start[u] + k]) : log;
    }
    return true;
  }

  // Write the product of the children's messages to `room`, scaled to a maximum of one; return the log of the scale.
  #multiply(u, k) {
    const { message, told, start, room, first, below } = this;
    const values = this.arity[u];
    let log = 0;
    room.fill(1);
    for (let place = first[u]; place < first[u + 1]; place++) {
      if (!told[below[place]]) continue;
      let greatest = 0;
      for (let i = 0, at = start[below[place]] + k * values; i < values; i++, at++) {
        room[i] *= message[at];
        if (room[i] > greatest) greatest = room[i];
      }
      for (let i = 0; i < values; i++) {
        room[i] /= greatest;
        if (!(room[i] > 1e-280)) this.unfit[u] = 1;
      }
      log += Math.log(greatest);
    }
    return log;
  }
}
