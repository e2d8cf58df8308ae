const MOST_AT_ONCE = 2e7; // steps

// Two to the power of an integer of at most zero; zero if that is negligible.
const POWERS = Float64Array.from({ length: 1075 }, (_, at) => 2 ** -at);
const power = (exponent) => (exponent < -1074 ? 0 : POWERS[-exponent]);

// The log of the sum over all trees of the product of their edges' weights, in the order 1-0, 2-0, 2-1, 3-0, ... The
// weights are overwritten. Eliminating a node adds w_i w_j / degree to the edges between its neighbours.
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

// A tree rooted at its centre, so that paths to the root are short: remove leaves until one node is left.
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

// The average over all trees if a row has few completions, otherwise over sampled trees.
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

  // The index of the first ratio of two attributes, and the strides of their values.
  #block(u, v) {
    const { n, arity, classes } = this;
    return u > v
      ? [this.start[u * n + v], arity[v] * classes, classes]
      : [this.start[v * n + u], classes, arity[u] * classes];
  }

  // Weights as mantissas and binary exponents; a forbidden edge is zero. If their range is small enough, they are also
  // given as plain numbers, divided by one in the middle of the range.
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

  // The messages in the trees of one posterior, which belongs to all classes or to one.
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

  // P(value of u | value of p, class), for each class a row for every value of p; P(value of u | class) if p is -1.
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

  // P(value j of u | the value of its parent, class k).
  conditional(u, parents, values, j, k) {
    const alone = this.values[(this.offset[u] + j) * this.classes + k];
    if (!parents.length) return alone;
    const [start, byU, byParent] = this.#block(u, parents[0]);
    return alone * this.ratios[start + j * byU + values[0] * byParent + k];
  }

  scores(codes) {
    return finished(this.scoring(codes));
  }

  // A generator that computes the scores in small steps.
  *scoring(codes) {
    const { missing, nCompletions } = this.#missing(codes);
    const logs = nCompletions > this.completions ? this.#overTrees(codes) : yield* this.#overCompletions(codes, missing, nCompletions);
    return logs.map((log, k) => log + this.logPrior[k]);
  }

  // Scores from sampled trees, if the exact scores would take noticeably long.
  estimate(codes) {
    const { nCompletions } = this.#missing(codes);
    if (nCompletions > this.completions || nCompletions * this.classes * this.n ** 3 < MOST_AT_ONCE) return undefined;
    return this.#overTrees(codes).map((log, k) => log + this.logPrior[k]);
  }

  // The unknown attributes and the number of completions.
  #missing(codes) {
    const missing = codes.flatMap((code, u) => (code === UNKNOWN ? [u] : []));
    return { missing, nCompletions: missing.reduce((product, u) => Math.min(product * this.arity[u], 1e9), 1) };
  }

  *#overCompletions(codes, missing, nCompletions) {
    const row = codes.slice();
    const atOnce = Math.ceil(MOST_AT_ONCE / 5 / (this.classes * this.n ** 3));
    const terms = Array.from({ length: this.classes }, () => new Float64Array(nCompletions));
    for (const u of missing) row[u] = 0;
    for (let index = 0; index < nCompletions; index++) {
      for (let k = 0; k < this.classes; k++) terms[k][index] = this.#complete(row, k);
      for (let at = missing.length - 1; at >= 0; at--) {
        if (++row[missing[at]] < this.arity[missing[at]]) break;
        row[missing[at]] = 0;
      }
      if ((index + 1) % atOnce === 0) yield;
    }
    return terms.map((logs) => logSum(logs));
  }

  // Kirchhoff's sum without subtractions: eliminating a node adds w_i w_j / degree to the edges between its neighbours.
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
    // Within these bounds no term of an edge underflows, except terms that are negligible in the edge's sum.
    if (least > 1e-140 && greatest < 1e140) return log + (n - 1) * middle + logTreeSum(weights, n);
    if (plain) for (let at = 0; at < weights.length; at++) weights[at] *= m[at] / plain[at];
    return log + this.#logScaledTreeSum(k);
  }

  // The same for weights given as mantissas and binary exponents.
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

  // The mean over sampled trees.
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

// A tree as a network, which uses logarithms if messages would underflow.
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
