// The tables of an additive model: the score of a class is its base score plus an entry for each attribute. An entry is
// found by the digits of the attribute's parents and its code; unknown values have entries of zero.
class EvidenceTables {
  constructor({ base, tables, rows, parents, digits, contexts, logPrior }, arity, classes) {
    Object.assign(this, { base, tables, rows, parents, digits, contexts, logPrior, arity, classes });
    this.sizes = digits.map((digit) => digit.at(-1) + 1);
  }

  // The row of a table for some digits of the attribute's parents and a known code.
  row(u, digits, code) {
    let row = 0;
    this.parents[u].forEach((p, at) => (row = row * this.sizes[p] + digits[at]));
    return row * this.arity[u] + code;
  }

  // The entries of a row, one for each class. Those of the last class follow from the others: together they are zero.
  entries(u, row) {
    const others = this.classes - 1;
    const entries = Array.from(this.tables[u].subarray(row * others, (row + 1) * others));
    entries.push(entries.reduce((rest, entry) => rest - entry, 0));
    return entries;
  }

  #entriesOf(u, codes) {
    if (codes[u] === UNKNOWN) return new Array(this.classes).fill(0);
    // The digit of unknown values comes last.
    const digits = this.parents[u].map((p) => this.digits[p].at(codes[p]));
    return this.entries(u, this.row(u, digits, codes[u]));
  }

  scores(codes) {
    const scores = Float64Array.from(this.base);
    codes.forEach((_, u) => this.#entriesOf(u, codes).forEach((entry, k) => (scores[k] += entry)));
    return scores;
  }

  parts(codes) {
    return centred([this.base, ...codes.map((_, u) => this.#entriesOf(u, codes))]);
  }

  // The mean entries of a value over the training rows, and the weight of these rows. `given` has a digit for each parent,
  // undefined if all of its digits count. If there are no such rows, these parents are treated as unknown.
  meanEntries(u, given, code) {
    const sizes = this.parents[u].map((p) => this.sizes[p]);
    const digits = given.map((digit) => digit ?? 0);
    const means = new Array(this.classes).fill(0);
    let total = 0;
    for (let at = 0; at >= 0; ) {
      const row = this.row(u, digits, code);
      const weight = this.rows[u][row];
      if (weight) this.entries(u, row).forEach((entry, k) => (means[k] += weight * entry));
      total += weight;
      for (at = given.length - 1; at >= 0; at--) {
        if (given[at] !== undefined) continue;
        if (++digits[at] < sizes[at]) break;
        digits[at] = 0;
      }
    }
    if (total) return { rows: total, entries: means.map((mean) => mean / total) };
    const unknown = given.map((digit, at) => digit ?? sizes[at] - 1);
    return { rows: 0, entries: this.entries(u, this.row(u, unknown, code)) };
  }
}
