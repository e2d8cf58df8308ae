const MAX_TABLE = 2 ** 16;
const MOST_REMEMBERED = 2 ** 21; // cells of tables

// A network of any structure. The axes of a table are the parent attributes in order, the node's values, and the class.
class Network {
  constructor({ parents, tables, alone, logPrior }, arity, classes) {
    const n = arity.length;
    Object.assign(this, { n, arity, classes, tables, logPrior, made: new Map(), cells: 0, names: 0, plain: [] });
    this.attributeParents = parents.map((nodes) => nodes.filter((p) => p !== n));
    this.width = parents.map((nodes, f) => (f === n || nodes.includes(n) ? classes : 1));
    this.own = [...arity, 1];
    this.below = parents.map(() => []);
    this.attributeParents.forEach((nodes, f) => nodes.forEach((p) => this.below[p].push(f)));
    this.order = this.#parentsFirst();
    this.isTree = !parents[n].length && parents.every((nodes, f) => f === n || (nodes.includes(n) && nodes.length < 3));
    this.alone = alone ?? (this.isTree ? this.#aloneInTree() : undefined);
    // Without the distribution of each value given the class, there is no evidence to divide.
    if (!this.alone) this.parts = undefined;
  }

  #parentsFirst() {
    const waiting = this.attributeParents.map((nodes) => nodes.length);
    const order = waiting.flatMap((many, f) => (many ? [] : [f]));
    for (let at = 0; at < order.length; at++) {
      for (const child of this.below[order[at]]) if (--waiting[child] === 0) order.push(child);
    }
    return order;
  }

  // log P(value | class) of all values, if the parents of every attribute are the class and at most one attribute.
  #aloneInTree() {
    const { classes } = this;
    const alone = [];
    for (const u of this.order) {
      if (u === this.n) continue;
      const [p] = this.attributeParents[u];
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

  // The index of a factor's first term; -1 if one of its attributes is unknown.
  entry(f, codes) {
    let at = 0;
    for (const p of this.attributeParents[f]) {
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

  // The groups of a row and their log sums; those of the last row are cached.
  #groupSums(codes) {
    const key = codes.join();
    if (this.last?.key !== key) {
      const sums = (group) => ({ group, said: this.summedOut(group, codes) });
      const found = (this.isTree && this.#treeSums(codes)) || this.groups(codes).map(sums);
      this.last = { key, found };
    }
    return this.last.found;
  }

  // The same by message passing in a tree; undefined if a message would underflow.
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

  // The tree's messages; null if a probability is too small for them.
  #hung() {
    const { n, arity, classes } = this;
    if (this.tables.some((table) => table.some((log) => log < -600 && log !== -Infinity))) return null;
    const parent = Int32Array.from(arity, (_, u) => this.attributeParents[u][0] ?? -1);
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

  // Groups of unknown attributes that share factors and have known descendants.
  groups(codes) {
    const { n } = this;
    const missing = (f) => f < n && codes[f] === UNKNOWN;
    const live = new Uint8Array(n + 1);
    for (let at = n; at >= 0; at--) {
      const f = this.order[at];
      if (!missing(f)) live[f] = 1;
      if (live[f]) for (const p of this.attributeParents[f]) live[p] = 1;
    }
    const top = Int32Array.from({ length: n + 1 }, (_, f) => f);
    const find = (f) => {
      while (top[f] !== f) f = top[f] = top[top[f]];
      return f;
    };
    const touched = [];
    for (let f = 0; f <= n; f++) {
      if (!live[f]) continue;
      const absent = [f, ...this.attributeParents[f]].filter(missing);
      if (!absent.length) continue;
      touched.push([f, absent[0]]);
      for (const u of absent) top[Math.max(find(u), find(absent[0]))] = Math.min(find(u), find(absent[0]));
    }
    const groups = new Map();
    for (const [f, first] of touched) {
      const name = find(first);
      if (!groups.has(name)) groups.set(name, { members: [], children: [] });
      groups.get(name)[missing(f) ? "members" : "children"].push(f);
    }
    for (const group of groups.values()) {
      const around = new Set(group.children.filter((f) => f < n));
      for (const f of [...group.members, ...group.children]) {
        for (const p of this.attributeParents[f]) if (!missing(p)) around.add(p);
      }
      group.around = [...around];
    }
    return [...groups.values()];
  }

  // The log of the sum over a group's values for each class, computed with probabilities, or with their logarithms if
  // the probabilities would nearly underflow.
  summedOut(group, codes) {
    return this.#summed(group, codes, true) ?? this.#summed(group, codes, false);
  }

  // The sum by variable elimination. Tables of probabilities are divided by the maximum of each class; undefined if an
  // entry is too small relative to it.
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

  // The order of elimination and the attributes that remain in each table. The next member is the one with the smallest table.
  #plan({ members, children }, codes) {
    const beside = new Map(members.map((u) => [u, new Set()]));
    for (const f of [...members, ...children]) {
      const scope = [f, ...this.attributeParents[f]].filter((u) => u < this.n && codes[u] === UNKNOWN);
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
      if (least > MAX_TABLE) throw new RangeError("too many values are unknown to marginalise them exactly");
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

  // A cached or new table: most tables stay the same from one question to the next. Tables that were not used recently
  // are removed from the cache.
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
    const nodes = f === this.n ? this.attributeParents[f] : [...this.attributeParents[f], f];
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

  // The sum over the values of an attribute of the product of tables. Small tables are multiplied first, while their
  // product is no larger than the result or the largest table.
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

  // The stride of an attribute in a table; 0 if the table does not contain it.
  #step({ scope }, u) {
    let step = this.classes;
    for (let at = scope.length - 1; at >= 0; at--) {
      if (scope[at] === u) return step;
      step *= this.arity[scope[at]];
    }
    return 0;
  }

  // All combinations of some attributes' values, and their positions in tables.
  #odometer(scope, tables) {
    return new Odometer(scope, this.arity, tables.map((table) => scope.map((u) => this.#step(table, u))));
  }

  // The product of two tables; undefined if it is larger than `most`.
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

  // The contribution of each attribute to the scores, the prior first. A known attribute contributes its evidence given
  // the class alone. The additional evidence of a factor is divided among its node and the node's parents, and that of a
  // group, beyond its known children alone, among the known attributes around it. In a tree, a value that is impossible
  // in a class is attributed to that value; in other networks, to all attributes.
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
        if (f === n && !this.attributeParents[f].length) {
          out[0][k] += term;
          continue;
        }
        const base = alone(f, k) === -Infinity && !this.isTree ? term : alone(f, k);
        const ratio = base === -Infinity ? 0 : (term - base) / (1 + this.attributeParents[f].length);
        out[own][k] += base + ratio;
        for (const p of this.attributeParents[f]) out[1 + p][k] += ratio;
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
