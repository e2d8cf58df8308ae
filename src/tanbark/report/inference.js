"use strict";
// What a classifier says of a row of which some values are known, computed as the library computes it.
//
// A row is an array of codes, one for each attribute; UNKNOWN is summed out. Every model answers
// `scores(codes)`: log scores of the classes, whose softmax is the posterior. Networks and pools of their logarithms
// also answer `parts(codes)`: what each attribute adds to them, the prior first.

const UNKNOWN = -1;
const MAX_TABLE = 2 ** 16;
const MOST_REMEMBERED = 2 ** 21; // cells of tables
const MOST_AT_ONCE = 2e7; // steps

function unpacked(packed) {
  const bytes = (text) => {
    const letters = atob(text);
    const array = new Uint8Array(letters.length);
    for (let at = 0; at < array.length; at++) array[at] = letters.charCodeAt(at);
    return array.buffer;
  };
  const values = new Float64Array(bytes(packed.values));
  if (!packed.codes) return values;
  // Seven bits of a place in each byte, the lowest first; the eighth says that more follow.
  const codes = new Uint8Array(bytes(packed.codes));
  const array = new Float64Array(codes.length);
  let many = 0;
  for (let at = 0, place = 0, shift = 0; at < codes.length; at++) {
    place |= (codes[at] & 127) << shift;
    shift += 7;
    if (codes[at] < 128) {
      array[many++] = values[place];
      place = shift = 0;
    }
  }
  return array.slice(0, many);
}

function logSum(terms) {
  let largest = -Infinity;
  for (let at = 0; at < terms.length; at++) largest = Math.max(largest, terms[at]);
  if (largest === -Infinity) return largest;
  let total = 0;
  for (let at = 0; at < terms.length; at++) total += Math.exp(terms[at] - largest);
  return largest + Math.log(total);
}

// Divide a table, the class last, by the greatest of each class, whose logarithm is added to `logs`; whether all in it
// is beyond 1e-300, so that no digit is lost that counts: numbers begin to lose digits at 1e-308.
function rescaled(data, logs) {
  const classes = logs.length;
  for (let k = 0; k < classes; k++) {
    let greatest = 0, least = Infinity;
    for (let at = k; at < data.length; at += classes) {
      greatest = Math.max(greatest, data[at]);
      least = Math.min(least, data[at]);
    }
    if (!(least > 1e-150 * greatest && greatest > 1e-150)) return false;
    for (let at = k; at < data.length; at += classes) data[at] /= greatest;
    logs[k] += Math.log(greatest);
  }
  return true;
}

function logPosterior(scores, logPrior) {
  const evidence = logSum(scores);
  return evidence === -Infinity ? Array.from(logPrior) : Array.from(scores, (score) => score - evidence);
}

// The parts less their mean over the classes that are possible.
function centred(parts) {
  return parts.map((part) => {
    const possible = Array.from(part).filter(Number.isFinite);
    const mean = possible.reduce((sum, value) => sum + value, 0) / Math.max(possible.length, 1);
    return Array.from(part, (value) => value - mean);
  });
}

// All combinations of some attributes' values, the last one fastest, and where each stands in tables with such strides.
class Odometer {
  constructor(scope, arity, strides) {
    this.sizes = scope.map((u) => arity[u]);
    this.strides = strides;
    this.values = new Int32Array(scope.length);
    this.at = new Int32Array(strides.length);
  }

  next() {
    const { sizes, strides, values, at } = this;
    for (let place = sizes.length - 1; place >= 0; place--) {
      const over = ++values[place] === sizes[place];
      const moved = over ? 1 - sizes[place] : 1;
      for (let t = 0; t < at.length; t++) at[t] += moved * strides[t][place];
      if (!over) return;
      values[place] = 0;
    }
  }
}

// What is done to tables: for each combination of some attributes' values, all values of one more, and each class.

function products(one, byOne, other, byOther, values, place, data, classes) {
  const { at } = place;
  for (let to = 0; to < data.length; place.next()) {
    for (let value = 0, i = at[0], j = at[1]; value < values; value++, i += byOne, j += byOther) {
      for (let k = 0; k < classes; k++) data[to++] = one[i + k] * other[j + k];
    }
  }
}

function sumsOfProductsOfTwo([one, other], [byOne, byOther], values, place, data, classes) {
  const { at } = place;
  for (let to = 0; to < data.length; place.next()) {
    const first = at[0], second = at[1];
    for (let k = 0; k < classes; k++) {
      let total = 0, i = first + k, j = second + k;
      for (let value = 0; value < values; value++, i += byOne, j += byOther) total += one[i] * other[j];
      data[to++] = total;
    }
  }
}

function sumsOfProducts(tables, steps, values, place, data, classes) {
  const { at } = place;
  for (let to = 0; to < data.length; place.next()) {
    for (let k = 0; k < classes; k++) {
      let total = 0;
      for (let value = 0; value < values; value++) {
        let product = 1;
        for (let t = 0; t < tables.length; t++) product *= tables[t][at[t] + k + value * steps[t]];
        total += product;
      }
      data[to++] = total;
    }
  }
}

function logSumsOfLogs(tables, steps, values, place, data, classes) {
  const terms = new Float64Array(values);
  for (let to = 0; to < data.length; place.next()) {
    for (let k = 0; k < classes; k++) {
      terms.fill(0);
      for (let t = 0; t < tables.length; t++) {
        for (let value = 0; value < values; value++) terms[value] += tables[t][place.at[t] + k + value * steps[t]];
      }
      data[to++] = logSum(terms);
    }
  }
}

// Messages in a tree, from its leaves upwards: what is known below and at a node says so much for each value of the one
// above. Only those are found anew that another question changes.
//
// A node's table holds, for each class, a row for every value of the one above (one row on top), in it the
// probabilities of the node's own values.
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

  // Send what these values change; false where something is too small to be told without logarithms.
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

  // What is known at and below a node says so much for a value of the one above, beside what was divided by.
  said(u, k, value) {
    return this.message[this.start[u] + k * this.rows[u] + value];
  }

  // The logarithm of the sum over all that is unknown.
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
      // What one child says is said on as it is; what several say is multiplied.
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

  // Write the product of what a node's children say to `room`, the greatest being one; return the log of what that was.
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

// A network of any shape. A table's axes are the attributes above, in their order, the node's own values, the class.
class Network {
  constructor({ parents, tables, alone, logPrior }, arity, classes) {
    const n = arity.length;
    Object.assign(this, { n, arity, classes, tables, logPrior, made: new Map(), cells: 0, names: 0, plain: [] });
    this.above = parents.map((nodes) => nodes.filter((p) => p !== n));
    this.width = parents.map((nodes, f) => (f === n || nodes.includes(n) ? classes : 1));
    this.own = [...arity, 1];
    this.below = parents.map(() => []);
    this.above.forEach((nodes, f) => nodes.forEach((p) => this.below[p].push(f)));
    this.order = this.#parentsFirst();
    this.isTree = !parents[n].length && parents.every((nodes, f) => f === n || (nodes.includes(n) && nodes.length < 3));
    this.alone = alone ?? (this.isTree ? this.#aloneInTree() : undefined);
    // Without what each value says alone there is nothing to share out.
    if (!this.alone) this.parts = undefined;
  }

  #parentsFirst() {
    const waiting = this.above.map((nodes) => nodes.length);
    const order = waiting.flatMap((many, f) => (many ? [] : [f]));
    for (let at = 0; at < order.length; at++) {
      for (const child of this.below[order[at]]) if (--waiting[child] === 0) order.push(child);
    }
    return order;
  }

  // log P(value | class) of all values where every attribute has the class and at most one attribute above.
  #aloneInTree() {
    const { classes } = this;
    const alone = [];
    for (const u of this.order) {
      if (u === this.n) continue;
      const [p] = this.above[u];
      const rows = p === undefined ? 1 : this.arity[p];
      const size = this.arity[u] * classes;
      const sums = new Float64Array(size);
      for (let i = 0; i < rows; i++) {
        for (let at = 0; at < size; at++) {
          const weight = p === undefined ? 0 : alone[p][i * classes + (at % classes)];
          sums[at] += Math.exp(weight + this.tables[u][i * size + at]);
        }
      }
      alone[u] = sums.map(Math.log);
    }
    return alone;
  }

  // Where the terms of a factor begin; -1 where something of it is unknown.
  entry(f, codes) {
    let at = 0;
    for (const p of this.above[f]) {
      if (codes[p] === UNKNOWN) return -1;
      at = at * this.arity[p] + codes[p];
    }
    if (f === this.n) return at * this.width[f];
    return codes[f] === UNKNOWN ? -1 : (at * this.arity[f] + codes[f]) * this.width[f];
  }

  term(f, entry, k) {
    return this.tables[f][entry + (this.width[f] > 1 ? k : 0)];
  }

  scores(codes) {
    const sums = new Float64Array(this.classes);
    for (let f = 0; f <= this.n; f++) {
      const entry = this.entry(f, codes);
      if (entry >= 0) for (let k = 0; k < this.classes; k++) sums[k] += this.term(f, entry, k);
    }
    for (const { said } of this.#groupSums(codes)) said.forEach((log, k) => (sums[k] += log));
    return sums;
  }

  // The groups of a row and what each says; those of the last row that was asked for are remembered.
  #groupSums(codes) {
    const key = codes.join();
    if (this.last?.key !== key) {
      const sums = (group) => ({ group, said: this.summedOut(group, codes) });
      const found = (this.isTree && this.#treeSums(codes)) || this.groups(codes).map(sums);
      this.last = { key, found };
    }
    return this.last.found;
  }

  // The same by messages in a tree; undefined where something is too small for them.
  #treeSums(codes) {
    const { n, classes } = this;
    if (this.messages === undefined) this.messages = this.#hung();
    const { messages } = this;
    if (!messages?.ask(codes)) return undefined;
    const groupOf = [];
    const found = [];
    for (const u of messages.order) {
      const p = messages.parent[u];
      const under = p >= 0 && codes[p] === UNKNOWN;
      if (codes[u] !== UNKNOWN) {
        if (!under) continue;
        groupOf[p].group.children.push(u);
        groupOf[p].group.around.push(u);
      } else if (messages.told[u]) {
        if (under) groupOf[u] = groupOf[p];
        else {
          const top = { members: [], children: [], around: p < 0 ? [] : [p] };
          found.push((groupOf[u] = { group: top, said: new Float64Array(classes) }));
        }
        const { group, said } = groupOf[u];
        group.members.push(u);
        for (let k = 0; k < classes; k++) {
          said[k] += messages.logs[k * n + u];
          if (p >= 0 && !under) said[k] += Math.log(messages.said(u, k, codes[p]));
        }
      }
    }
    return found;
  }

  // The tree's messages; null where a probability is too small for them.
  #hung() {
    const { n, arity, classes } = this;
    if (this.tables.some((table) => table.some((log) => log < -600 && log !== -Infinity))) return null;
    const parent = Int32Array.from(arity, (_, u) => this.above[u][0] ?? -1);
    const tables = arity.map((values, u) => {
      const rows = parent[u] < 0 ? 1 : arity[parent[u]];
      const table = new Float64Array(classes * rows * values);
      this.tables[u].forEach((log, at) => {
        table[(at % classes) * rows * values + Math.floor(at / classes)] = Math.exp(log);
      });
      return table;
    });
    return new TreeMessages(parent, this.order.filter((f) => f < n), tables, arity, classes);
  }

  // Unknown attributes with something known below, where they share a factor together.
  groups(codes) {
    const { n } = this;
    const missing = (f) => f < n && codes[f] === UNKNOWN;
    const live = new Uint8Array(n + 1);
    for (let at = n; at >= 0; at--) {
      const f = this.order[at];
      if (!missing(f)) live[f] = 1;
      if (live[f]) for (const p of this.above[f]) live[p] = 1;
    }
    const top = Int32Array.from({ length: n + 1 }, (_, f) => f);
    const find = (f) => {
      while (top[f] !== f) f = top[f] = top[top[f]];
      return f;
    };
    const touched = [];
    for (let f = 0; f <= n; f++) {
      if (!live[f]) continue;
      const holes = [f, ...this.above[f]].filter(missing);
      if (!holes.length) continue;
      touched.push([f, holes[0]]);
      for (const u of holes) top[Math.max(find(u), find(holes[0]))] = Math.min(find(u), find(holes[0]));
    }
    const groups = new Map();
    for (const [f, hole] of touched) {
      const name = find(hole);
      if (!groups.has(name)) groups.set(name, { members: [], children: [] });
      groups.get(name)[missing(f) ? "members" : "children"].push(f);
    }
    for (const group of groups.values()) {
      const around = new Set(group.children.filter((f) => f < n));
      for (const f of [...group.members, ...group.children]) {
        for (const p of this.above[f]) if (!missing(p)) around.add(p);
      }
      group.around = [...around];
    }
    return [...groups.values()];
  }

  // The log of the sum over a group's values, for each class: of probabilities, or of their logarithms where
  // probabilities would come near the smallest that a number can be.
  summedOut(group, codes) {
    return this.#summed(group, codes, true) ?? this.#summed(group, codes, false);
  }

  // The sum by eliminating one member after the other. Tables of probabilities are divided by the greatest of each
  // class; undefined where something in them is too small beside it.
  #summed(group, codes, plain) {
    const { classes } = this;
    const steps = this.#plan(group, codes);
    const said = new Float64Array(classes);
    const tablesOf = new Map(group.members.map((u) => [u, new Set()]));
    const take = (table) => {
      for (let k = 0; k < classes; k++) said[k] += table.logs[k];
      for (const u of table.scope) tablesOf.get(u).add(table);
      return table.fits;
    };
    for (const f of [...group.members, ...group.children]) {
      if (!take(this.#restricted(f, codes, plain))) return undefined;
    }
    for (const { u, scope, cells } of steps) {
      const inputs = [...tablesOf.get(u)];
      for (const table of inputs) for (const v of table.scope) tablesOf.get(v).delete(table);
      if (!take(this.#eliminated(u, inputs, scope, cells, plain))) return undefined;
    }
    return said;
  }

  // In which order members are eliminated, and what attributes each leaves in a table: always the smallest one.
  #plan({ members, children }, codes) {
    const beside = new Map(members.map((u) => [u, new Set()]));
    for (const f of [...members, ...children]) {
      const scope = [f, ...this.above[f]].filter((u) => u < this.n && codes[u] === UNKNOWN);
      for (const u of scope) for (const v of scope) if (v !== u) beside.get(u).add(v);
    }
    const cells = (u) => {
      let product = 1;
      for (const v of beside.get(u)) product *= this.arity[v];
      return product;
    };
    const cost = new Map(members.map((u) => [u, cells(u)]));
    const steps = [];
    while (cost.size) {
      let next, least = Infinity;
      for (const [u, size] of cost) if (size < least) [next, least] = [u, size];
      if (least > MAX_TABLE) throw new RangeError("too much is unknown to be summed out");
      const scope = [...beside.get(next)];
      steps.push({ u: next, scope, cells: least });
      cost.delete(next);
      for (const u of scope) {
        beside.get(u).delete(next);
        for (const v of scope) if (v !== u) beside.get(u).add(v);
      }
      for (const u of scope) cost.set(u, cells(u));
    }
    return steps;
  }

  // A table that was made before, or a new one: from one question to the next most stay the same. Those that were not
  // asked for of late are forgotten.
  #table(key, make, scope, plain) {
    let table = this.made.get(key);
    if (!table) {
      const data = make();
      const logs = new Float64Array(this.classes);
      const fits = !plain || rescaled(data, logs);
      if (!plain && !scope.length) logs.set(data);
      table = { name: ++this.names, scope, data, logs, fits };
      this.cells += data.length;
    } else this.made.delete(key);
    this.made.set(key, table);
    for (const [oldest, { data }] of this.made) {
      if (this.cells <= MOST_REMEMBERED) break;
      this.made.delete(oldest);
      this.cells -= data.length;
    }
    return table;
  }

  // A factor as a table over the unknown attributes in it, the class last.
  #restricted(f, codes, plain) {
    const { classes, arity } = this;
    const table = plain ? this.#probabilities(f) : this.tables[f];
    const width = this.width[f];
    const nodes = f === this.n ? this.above[f] : [...this.above[f], f];
    const scope = [];
    const strides = [];
    let entry = 0;
    let stride = f === this.n ? classes : width;
    for (let at = nodes.length - 1; at >= 0; at--) {
      const u = nodes[at];
      if (codes[u] === UNKNOWN) {
        scope.unshift(u);
        strides.unshift(stride);
      } else entry += codes[u] * stride;
      stride *= arity[u];
    }
    const make = () => {
      const data = new Float64Array(scope.reduce((product, u) => product * arity[u], classes));
      const place = new Odometer(scope, arity, [strides]);
      for (let cell = 0; cell < data.length; cell += classes) {
        const from = entry + place.at[0];
        for (let k = 0; k < classes; k++) data[cell + k] = table[width > 1 ? from + k : from];
        place.next();
      }
      return data;
    };
    return this.#table(`${plain} ${f} ${entry} ${scope}`, make, scope, plain);
  }

  #probabilities(f) {
    return (this.plain[f] ??= this.tables[f].map(Math.exp));
  }

  // The sum over the values of an attribute of the product of tables. Small ones are multiplied first, as long as what
  // comes of it is no larger than the result.
  #eliminated(u, inputs, scope, cells, plain) {
    const { classes, arity } = this;
    const make = () => {
      const data = new Float64Array(cells * classes);
      let tables = inputs;
      if (plain) {
        tables = [...inputs].sort((a, b) => b.data.length - a.data.length);
        while (tables.length > 2) {
          const product = this.#product(...tables.slice(-2), Math.max(data.length, tables[0].data.length));
          if (!product) break;
          tables.splice(-2, 2, product);
        }
      }
      const steps = tables.map((table) => this.#step(table, u));
      const cellsOf = tables.map((table) => table.data);
      const sums = !plain ? logSumsOfLogs : tables.length === 2 ? sumsOfProductsOfTwo : sumsOfProducts;
      sums(cellsOf, steps, arity[u], this.#odometer(scope, tables), data, classes);
      return data;
    };
    const names = inputs.map((table) => table.name).sort((a, b) => a - b);
    return this.#table(`${u} of ${names}`, make, scope, plain);
  }

  // How far one more of an attribute's value is in a table; 0 where the table does not have it.
  #step({ scope }, u) {
    let step = this.classes;
    for (let at = scope.length - 1; at >= 0; at--) {
      if (scope[at] === u) return step;
      step *= this.arity[scope[at]];
    }
    return 0;
  }

  // All combinations of some attributes' values, and where each stands in tables.
  #odometer(scope, tables) {
    return new Odometer(scope, this.arity, tables.map((table) => scope.map((u) => this.#step(table, u))));
  }

  // Two tables cell by cell multiplied; undefined where that is larger than `most`.
  #product(one, other, most) {
    const { arity, classes } = this;
    const scope = [...one.scope.filter((u) => !other.scope.includes(u)), ...other.scope];
    const size = scope.reduce((product, u) => product * arity[u], classes);
    if (size > most) return undefined;
    const data = new Float64Array(size);
    const u = scope.at(-1);
    const place = this.#odometer(scope.slice(0, -1), [one, other]);
    products(one.data, this.#step(one, u), other.data, this.#step(other, u), arity[u], place, data, classes);
    return { scope, data };
  }

  // What each attribute adds to the scores, the prior first. A known attribute has what it says alone; what a factor
  // says beyond that is shared by its node and those above; what a group says beyond what its known children say
  // alone is shared by the known attributes around it. In a tree a value that a class cannot have is that value's own
  // matter; elsewhere it is that of all.
  parts(codes) {
    const { n, classes } = this;
    const out = Array.from({ length: n + 1 }, () => new Float64Array(classes));
    const alone = (f, k) => (f === n ? this.logPrior[k] : this.alone[f][codes[f] * classes + k]);
    for (let f = 0; f <= n; f++) {
      const entry = this.entry(f, codes);
      if (entry < 0) continue;
      const own = f === n ? 0 : 1 + f;
      for (let k = 0; k < classes; k++) {
        const term = this.term(f, entry, k);
        if (f === n && !this.above[f].length) {
          out[0][k] += term;
          continue;
        }
        const base = alone(f, k) === -Infinity && !this.isTree ? term : alone(f, k);
        const ratio = base === -Infinity ? 0 : (term - base) / (1 + this.above[f].length);
        out[own][k] += base + ratio;
        for (const p of this.above[f]) out[1 + p][k] += ratio;
      }
    }
    for (const { group, said: sums } of this.#groupSums(codes)) {
      const said = sums.slice();
      if (this.isTree) {
        for (let k = 0; k < classes; k++) {
          const possible = group.children.filter((f) => alone(f, k) !== -Infinity);
          if (possible.length === group.children.length) continue;
          said[k] = this.summedOut({ members: group.members, children: possible }, codes)[k];
        }
      }
      for (const f of group.children) {
        for (let k = 0; k < classes; k++) {
          if (alone(f, k) === -Infinity && this.isTree) {
            out[1 + f][k] = -Infinity;
            continue;
          }
          const base = alone(f, k) === -Infinity ? 0 : alone(f, k);
          out[f === n ? 0 : 1 + f][k] += base;
          said[k] -= base;
        }
      }
      const places = group.around.length ? group.around.map((u) => 1 + u) : [0];
      for (const place of places) for (let k = 0; k < classes; k++) out[place][k] += said[k] / places.length;
    }
    return out;
  }
}

// A network whose joint is multiplied by the ratio of another class prior to its own.
class NetworkClassifier {
  constructor(network, ratio, logPrior) {
    Object.assign(this, { network, ratio, logPrior });
    if (!network.parts) this.parts = undefined;
  }

  scores(codes) {
    return this.network.scores(codes).map((score, k) => score + this.ratio[k]);
  }

  parts(codes) {
    const parts = this.network.parts(codes);
    for (let k = 0; k < this.ratio.length; k++) parts[0][k] += this.ratio[k];
    const possible = this.ratio.some((_, k) => parts.reduce((sum, part) => sum + part[k], 0) !== -Infinity);
    return centred(possible ? parts : parts.map((part, at) => (at ? part.fill(0) : this.logPrior)));
  }
}

// The mean over all super-parents whose values vote; naive Bayes where none does.
class SuperParentsMean {
  constructor({ own, pairs, votes, alone, logPrior }, arity, classes) {
    Object.assign(this, { own, pairs, votes, alone, logPrior, classes });
    this.offset = arity.reduce((ends, r) => [...ends, ends.at(-1) + r], [0]);
  }

  scores(codes) {
    const { classes, offset } = this;
    const total = offset.at(-1);
    const known = codes.flatMap((code, u) => (code === UNKNOWN ? [] : [offset[u] + code]));
    const voters = known.filter((value) => this.votes[value]);
    return Float64Array.from({ length: classes }, (_, k) => {
      if (!voters.length) return known.reduce((sum, j) => sum + this.alone[j * classes + k], this.logPrior[k]);
      return logSum(
        voters.map((i) => {
          let sum = this.own[i * classes + k];
          for (const j of known) sum += this.pairs[(i * classes + k) * total + j];
          return sum;
        }),
      );
    });
  }
}

// Class probabilities of several models, their logarithms or they themselves averaged with weights.
class Pool {
  static IMPOSSIBLE = -700;

  constructor({ members, weights, linear, logPrior, ratio }) {
    Object.assign(this, { members, weights, linear, logPrior, ratio });
    if (linear || !members.every((member) => member.parts)) this.parts = undefined;
  }

  // A row that a member finds impossible gets its prior; a class that it finds impossible gets no veto.
  #logPosterior(member, codes) {
    const scores = member.scores(codes);
    const given = scores.some((score) => score !== -Infinity) ? scores : member.logPrior;
    const least = Math.min(...given.filter((score) => score !== -Infinity));
    const evidence = logSum(given);
    return Array.from(given, (score) => (score === -Infinity ? least + Pool.IMPOSSIBLE : score) - evidence);
  }

  scores(codes) {
    const of = this.members.map((member) => this.#logPosterior(member, codes));
    return Float64Array.from(this.ratio, (ratio, k) => {
      const logs = of.map((posterior) => posterior[k]);
      if (this.linear) return ratio + logSum(logs.map((log, m) => log + Math.log(this.weights[m])));
      return ratio + logs.reduce((sum, log, m) => sum + this.weights[m] * log, 0);
    });
  }

  parts(codes) {
    const classes = this.ratio.length;
    const total = Array.from({ length: codes.length + 1 }, () => new Float64Array(classes));
    this.members.forEach((member, m) => {
      const parts = member.parts(codes);
      const weight = this.weights[m];
      if (parts.every((part) => part.every(Number.isFinite))) {
        for (let at = 0; at < parts.length; at++) {
          for (let k = 0; k < classes; k++) total[at][k] += weight * parts[at][k];
        }
      } else this.#logPosterior(member, codes).forEach((log, k) => (total[0][k] += weight * log));
    });
    this.ratio.forEach((ratio, k) => (total[0][k] += ratio));
    return centred(total);
  }
}

// Networks that vote for the class each finds most probable.
class Committee {
  static SLACK = 1e-9;

  constructor({ members, weights, temperature, logPrior, ratio }) {
    Object.assign(this, { members, weights, temperature, logPrior, ratio });
  }

  scores(codes) {
    const tally = new Float64Array(this.ratio.length);
    let total = 0;
    this.members.forEach((member, m) => {
      let scores = Array.from(member.scores(codes));
      if (Math.max(...scores) === -Infinity) scores = Array.from(member.logPrior);
      const least = Math.max(...scores) - Committee.SLACK;
      tally[scores.findIndex((score) => !(score < least))] += this.weights[m];
      total += this.weights[m];
    });
    return tally.map((votes, k) => (this.temperature * votes) / total + this.ratio[k]);
  }
}

// Two to a power of at most zero, which is whole; zero where that is too small to matter.
const POWERS = Float64Array.from({ length: 1075 }, (_, at) => 2 ** -at);
const power = (exponent) => (exponent < -1074 ? 0 : POWERS[-exponent]);

// The log of the sum over all trees of the product of their edges' weights, which are those of 1-0, 2-0, 2-1, 3-0, ...
// and are written over. A node is taken out, its neighbours are joined by w_i w_j / degree.
function logTreeSum(weights, n) {
  let log = 0;
  for (let u = n - 1; u > 0; u--) {
    const first = (u * (u - 1)) / 2;
    let degree = 0;
    for (let at = first; at < first + u; at++) degree += weights[at];
    log += Math.log(degree);
    for (let i = 1, edge = 0; i < u; i++) {
      const share = weights[first + i] / degree;
      for (let j = first; j < first + i; j++, edge++) weights[edge] += share * weights[j];
    }
  }
  return log;
}

// A tree hung from its middle, so that no path to the top is long: leaf after leaf is taken off until one node is left.
function fromTheMiddle(given) {
  const beside = given.map(() => new Set());
  given.forEach((p, u) => p >= 0 && beside[p].add(u) && beside[u].add(p));
  const parent = new Int32Array(given.length).fill(-1);
  const order = given.flatMap((_, u) => (beside[u].size < 2 ? [u] : []));
  for (let at = 0; at < order.length; at++) {
    for (const above of beside[order[at]]) {
      parent[order[at]] = above;
      if (beside[above].delete(order[at]) && beside[above].size === 1) order.push(above);
    }
  }
  return { parent, order: order.reverse() };
}

// The average over all trees: exactly where a row has few completions, else over the trees that were drawn.
class TreeAverage {
  constructor({ values, pairs, logPrior, logWeights, logTotals, trees, times, completions }, arity, classes) {
    const n = arity.length;
    Object.assign(this, { n, arity, classes, values, logPrior, completions });
    const draws = times.reduce((sum, many) => sum + many, 0);
    this.logShares = times.map((many) => Math.log(many / draws));
    this.offset = arity.reduce((ends, r) => [...ends, ends.at(-1) + r], [0]);
    this.#takeRatios(pairs);
    this.posteriors = logWeights.map((matrix, at) => ({ ...this.#scaled(matrix), logTotal: logTotals[at] }));
    this.trees = trees.map((parents, k) => this.#hung(parents, trees.length > 1 ? k : undefined));
    this.room = [new Float64Array((n * (n - 1)) / 2), new Float64Array((n * (n - 1)) / 2)];
  }

  // P(i, j | k) / (P(i | k) P(j | k)) of every pair of attributes, from P(i, j | k).
  #takeRatios(pairs) {
    const { classes, offset, arity, n, values } = this;
    this.start = new Int32Array(n * n);
    this.ratios = pairs.slice();
    let at = 0;
    for (let u = 1; u < n; u++) {
      for (let v = 0; v < u; v++) {
        this.start[u * n + v] = at;
        for (let i = offset[u]; i < offset[u] + arity[u]; i++) {
          for (let j = offset[v]; j < offset[v] + arity[v]; j++) {
            for (let k = 0; k < classes; k++) this.ratios[at++] /= values[i * classes + k] * values[j * classes + k];
          }
        }
      }
    }
  }

  // Where the ratios of two attributes begin, and by how much one more of the values of either moves.
  #block(u, v) {
    const { n, arity, classes } = this;
    return u > v
      ? [this.start[u * n + v], arity[v] * classes, classes]
      : [this.start[v * n + u], classes, arity[u] * classes];
  }

  // Weights as mantissas and exponents of two; an edge that cannot be is zero. Where they are not too far apart they
  // are plain numbers too, divided by one in the middle of them.
  #scaled(matrix) {
    const logs = new Float64Array((this.n * (this.n - 1)) / 2);
    for (let u = 1, at = 0; u < this.n; u++) for (let v = 0; v < u; v++) logs[at++] = matrix[u * this.n + v];
    const e = logs.map((log) => (log === -Infinity ? 0 : Math.round(log / Math.LN2)));
    const m = logs.map((log, at) => Math.exp(log - e[at] * Math.LN2));
    let [least, greatest] = [Infinity, -Infinity];
    for (const log of logs) [least, greatest] = [Math.min(least, log), Math.max(greatest, log)];
    const middle = logs.length ? (least + greatest) / 2 : 0;
    const plain = greatest - least < 640 ? logs.map((log) => Math.exp(log - middle)) : undefined;
    return { m, e, plain, middle };
  }

  // The messages in trees of one posterior, of which each is all classes' or one's.
  #hung(parents, of) {
    const { n, arity, classes } = this;
    const seen = new Map();
    const table = (u, p) => {
      const key = `${u} under ${p}`;
      if (!seen.has(key)) seen.set(key, this.#table(u, p));
      const whole = seen.get(key);
      const size = whole.length / classes;
      return of === undefined ? whole : whole.subarray(of * size, (of + 1) * size);
    };
    return parents.map((given) => {
      const { parent, order } = fromTheMiddle(given);
      const tables = order.map((_, u) => table(u, parent[u]));
      return new TreeMessages(parent, order, tables, arity, of === undefined ? classes : 1);
    });
  }

  // P(value of u | value of p, class), for each class a row for every value of p; of u alone where p is -1.
  #table(u, p) {
    const { arity, classes } = this;
    const rows = p < 0 ? 1 : arity[p];
    const table = new Float64Array(classes * rows * arity[u]);
    let at = 0;
    for (let k = 0; k < classes; k++) {
      for (let j = 0; j < rows; j++) {
        for (let i = 0; i < arity[u]; i++) table[at++] = this.conditional(u, p < 0 ? [] : [p], [j], i, k);
      }
    }
    return table;
  }

  // P(value j of u | the value of what is above it, class k).
  conditional(u, above, values, j, k) {
    const alone = this.values[(this.offset[u] + j) * this.classes + k];
    if (!above.length) return alone;
    const [start, byU, byAbove] = this.#block(u, above[0]);
    return alone * this.ratios[start + j * byU + values[0] * byAbove + k];
  }

  scores(codes) {
    return finished(this.scoring(codes));
  }

  // The scores, found in small steps.
  *scoring(codes) {
    const { holes, ways } = this.#lack(codes);
    const logs = ways > this.completions ? this.#overTrees(codes) : yield* this.#overCompletions(codes, holes, ways);
    return logs.map((log, k) => log + this.logPrior[k]);
  }

  // Scores by the drawn trees, where the exact ones take longer than a glance.
  estimate(codes) {
    const { ways } = this.#lack(codes);
    if (ways > this.completions || ways * this.classes * this.n ** 3 < MOST_AT_ONCE) return undefined;
    return this.#overTrees(codes).map((log, k) => log + this.logPrior[k]);
  }

  // What is unknown, and in how many ways it can be completed.
  #lack(codes) {
    const holes = codes.flatMap((code, u) => (code === UNKNOWN ? [u] : []));
    return { holes, ways: holes.reduce((product, u) => Math.min(product * this.arity[u], 1e9), 1) };
  }

  *#overCompletions(codes, holes, ways) {
    const row = codes.slice();
    const atOnce = Math.ceil(MOST_AT_ONCE / 5 / (this.classes * this.n ** 3));
    const terms = Array.from({ length: this.classes }, () => new Float64Array(ways));
    for (const u of holes) row[u] = 0;
    for (let way = 0; way < ways; way++) {
      for (let k = 0; k < this.classes; k++) terms[k][way] = this.#complete(row, k);
      for (let at = holes.length - 1; at >= 0; at--) {
        if (++row[holes[at]] < this.arity[holes[at]]) break;
        row[holes[at]] = 0;
      }
      if ((way + 1) % atOnce === 0) yield;
    }
    return terms.map((logs) => logSum(logs));
  }

  // Kirchhoff's sum without a subtraction: a node is taken out, its neighbours are joined by w_i w_j / degree.
  #complete(row, k) {
    const { n, classes, offset, arity, start, ratios } = this;
    const { m, plain, middle, logTotal } = this.posteriors[this.posteriors.length > 1 ? k : 0];
    const weights = this.room[0];
    let log = -logTotal;
    let least = plain ? Infinity : 0;
    let greatest = 0;
    for (let u = 0, at = 0; u < n; u++) {
      log += Math.log(this.values[(offset[u] + row[u]) * classes + k]);
      for (let v = 0; v < u; v++, at++) {
        const ratio = ratios[start[u * n + v] + (row[u] * arity[v] + row[v]) * classes + k];
        const weight = (weights[at] = (plain ?? m)[at] * ratio);
        if (weight < least) least = weight;
        if (weight > greatest) greatest = weight;
      }
    }
    // Between these bounds no share of an edge is too small for a number, and what is then too small is nothing beside
    // the edge that it is added to.
    if (least > 1e-140 && greatest < 1e140) return log + (n - 1) * middle + logTreeSum(weights, n);
    if (plain) for (let at = 0; at < weights.length; at++) weights[at] *= m[at] / plain[at];
    return log + this.#logScaledTreeSum(k);
  }

  // The same of weights which are mantissas; each has an exponent of two.
  #logScaledTreeSum(k) {
    const { n } = this;
    const [m, e] = this.room;
    e.set(this.posteriors[this.posteriors.length > 1 ? k : 0].e);
    let log = 0;
    for (let u = n - 1; u > 0; u--) {
      const first = (u * (u - 1)) / 2;
      let degree = 0;
      let exponent = -1e300;
      for (let at = first; at < first + u; at++) {
        if (m[at] === 0) continue;
        const gap = e[at] - exponent;
        if (gap > 0) {
          degree = degree * power(-gap) + m[at];
          exponent = e[at];
        } else degree += m[at] * power(gap);
      }
      if (degree === 0) return -Infinity;
      log += Math.log(degree) + exponent * Math.LN2;
      let edge = 0;
      for (let i = 1; i < u; i++) {
        const share = m[first + i] / degree;
        const step = e[first + i] - exponent;
        if (share === 0) {
          edge += i;
          continue;
        }
        for (let j = 0; j < i; j++, edge++) {
          const more = share * m[first + j];
          if (more === 0) continue;
          const gap = step + e[first + j] - e[edge];
          let sum;
          if (m[edge] === 0) {
            sum = more;
            e[edge] += gap;
          } else if (gap > 0) {
            sum = m[edge] * power(-gap) + more;
            e[edge] += gap;
          } else sum = m[edge] + more * power(gap);
          if (sum > 1e100) {
            sum *= 2 ** -300;
            e[edge] += 300;
          } else if (sum < 1e-100) {
            sum *= 2 ** 300;
            e[edge] -= 300;
          }
          m[edge] = sum;
        }
      }
    }
    return log;
  }

  // The mean over drawn trees.
  #overTrees(codes) {
    const logs = Array.from({ length: this.classes }, () => new Float64Array(this.logShares.length));
    this.trees.forEach((trees, of) => {
      trees.forEach((tree, t) => {
        const said = tree.ask(codes) ? undefined : (tree.network ??= asNetwork(tree)).scores(codes);
        for (let k = 0; k < tree.classes; k++) logs[of + k][t] = this.logShares[t] + (said ? said[k] : tree.total(k));
      });
    });
    return logs.map((terms) => logSum(terms));
  }
}

// A tree as a network, which can say in logarithms what is too small for messages.
function asNetwork({ parent, tables, rows, arity, classes }) {
  const n = parent.length;
  const logs = tables.map((table, u) => {
    const many = rows[u] * arity[u];
    return Float64Array.from(table, (_, at) => Math.log(table[(at % classes) * many + Math.floor(at / classes)]));
  });
  const parents = [...Array.from(parent, (p) => (p < 0 ? [n] : [p, n])), []];
  const prior = new Float64Array(classes);
  return new Network({ parents, tables: [...logs, prior], logPrior: prior }, arity, classes);
}

// The model that a page carries.
function modelOf(carried) {
  const arity = carried.columns.map((column) => column.labels.length);
  const classes = carried.classes.length;
  const network = ({ parents, tables, alone, logPrior }) =>
    new Network(
      { parents, tables: tables.map(unpacked), alone: alone?.map(unpacked), logPrior: unpacked(logPrior) },
      arity,
      classes,
    );
  const superParent = (u, own, pairs, logPrior) => {
    const offset = arity.reduce((ends, r) => [...ends, ends.at(-1) + r], [0]);
    const total = offset.at(-1);
    const tables = arity.map((r, v) => {
      const table = new Float64Array((v === u ? 1 : arity[u]) * r * classes);
      let at = 0;
      for (let i = 0; i < (v === u ? 1 : arity[u]); i++) {
        for (let j = 0; j < r; j++) {
          for (let k = 0; k < classes; k++) {
            const given = own[(offset[u] + j) * classes + k] - logPrior[k];
            if (v !== u) table[at++] = pairs[((offset[u] + i) * classes + k) * total + offset[v] + j];
            else table[at++] = Number.isNaN(given) ? -Math.log(r) : given;
          }
        }
      }
      return table;
    });
    const parents = [...arity.map((_, v) => (v === u ? [arity.length] : [u, arity.length])), []];
    return new Network({ parents, tables: [...tables, logPrior], logPrior }, arity, classes);
  };
  const build = (of) => {
    switch (of.kind) {
      case "network":
        return new NetworkClassifier(network(of), unpacked(of.ratio), unpacked(of.givenPrior));
      case "super-parents": {
        const { own, pairs, votes, alone, logPrior } = of;
        const arrays = [own, pairs, votes, alone, logPrior].map(unpacked);
        return new SuperParentsMean(
          { own: arrays[0], pairs: arrays[1], votes: arrays[2], alone: arrays[3], logPrior: arrays[4] },
          arity,
          classes,
        );
      }
      case "pool": {
        const learnedPrior = unpacked(of.learnedPrior);
        const given = of.members?.map((member) => (member.kind === "plain" ? network(member) : build(member)));
        const [own, pairs] = given ? [] : [unpacked(of.own), unpacked(of.pairs)];
        const members = given ?? of.superParents.map((u) => superParent(u, own, pairs, learnedPrior));
        const logPrior = unpacked(of.logPrior);
        return new Pool({ ...of, members, weights: unpacked(of.weights), logPrior, ratio: unpacked(of.ratio) });
      }
      case "committee":
        return new Committee({
          members: of.members.map(network),
          weights: unpacked(of.weights),
          temperature: of.temperature,
          logPrior: unpacked(of.logPrior),
          ratio: unpacked(of.ratio),
        });
      case "tree-average": {
        const n = arity.length;
        const trees = of.trees.map((packed) => {
          const flat = Array.from(unpacked(packed));
          return Array.from({ length: flat.length / n }, (_, t) => flat.slice(t * n, (t + 1) * n));
        });
        return new TreeAverage(
          {
            values: unpacked(of.values),
            pairs: unpacked(of.pairs),
            logPrior: unpacked(of.logPrior),
            logWeights: of.logWeights.map(unpacked),
            logTotals: unpacked(of.logTotals),
            trees,
            times: unpacked(of.times),
            completions: of.completions,
          },
          arity,
          classes,
        );
      }
    }
  };
  return build(carried.scorer);
}

// What a generator returns in the end.
function finished(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

// What follows from what is known: the log posterior, and weights of evidence which, with the prior's, add up to it.
// Where the model is additive they are those of `explain`. Elsewhere each is what the log posterior moved by when the
// attribute was set, after those set before it, in the order of `moves`; they are found one at a time, and yielded with
// all that is known by then. A weight that cannot be found is not a number. Where the posterior itself takes long, an
// estimate stands for it until the weights are found: that of the last move needs it too.
function* answering(model, logPrior, codes, moves) {
  const scoring = function* (row) {
    return logPosterior(model.scoring ? yield* model.scoring(row) : model.scores(row), logPrior);
  };
  if (model.parts) {
    const [prior, ...weights] = model.parts(codes);
    yield { posterior: logPosterior(model.scores(codes), logPrior), prior, weights };
    return;
  }
  const nothing = logPrior.map(() => NaN);
  const weights = codes.map((code) => (code === UNKNOWN ? logPrior.map(() => 0) : nothing));
  const found = { prior: nothing, weights };
  const estimate = model.estimate?.(codes);
  found.posterior = logPosterior(estimate ?? model.scores(codes), logPrior);
  found.estimated = Boolean(estimate);
  yield found;
  const known = codes.map(() => UNKNOWN);
  let before;
  for (const u of [undefined, ...moves]) {
    if (u !== undefined) known[u] = codes[u];
    let after;
    try {
      after = yield* scoring(known.slice());
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    if (u === undefined && after) found.prior = centred([after])[0];
    else if (before && after) {
      found.weights[u] = centred([after.map((log, k) => (log === before[k] ? 0 : log - before[k]))])[0];
    }
    before = after;
    yield found;
  }
  if (estimate) yield Object.assign(found, { posterior: yield* scoring(codes), estimated: false });
}

function answer(model, logPrior, codes, moves) {
  return [...answering(model, logPrior, codes, moves)].at(-1);
}
