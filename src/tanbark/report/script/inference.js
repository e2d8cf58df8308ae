// The predictions of a classifier for rows with unknown values, computed as in the library.
//
// A row is an array of codes, one for each attribute; UNKNOWN values are marginalised. Every model has
// `scores(codes)`: log scores of the classes, whose softmax is the posterior. Networks, additive tables and logarithmic
// pools also have `parts(codes)`: the contribution of each attribute to the scores, the prior first.

// The model in the data of a page.
function modelOf(pageData) {
  const arity = pageData.columns.map((column) => column.labels.length);
  const classes = pageData.classes.length;
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
      case "votes":
        return new Votes({
          members: of.members.map(network),
          weights: unpacked(of.weights),
          temperature: of.temperature,
          logPrior: unpacked(of.logPrior),
          ratio: unpacked(of.ratio),
        });
      case "evidence":
        return new EvidenceTables(
          {
            base: unpacked(of.base),
            tables: of.tables.map(unpacked),
            rows: of.rows.map(unpacked),
            parents: of.parents,
            digits: of.digits,
            contexts: of.contexts,
            logPrior: unpacked(of.logPrior),
          },
          arity,
          classes,
        );
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
  return build(pageData.scorer);
}

// Yield the log posterior and the weights of evidence, which together with the prior's weight sum to it. If the model is
// additive, the weights are those of `explain`. Otherwise each weight is the change of the log posterior when the
// attribute was set, after those set before it, in the order of `moves`. These are computed one at a time, and each is
// yielded with those found so far. A weight that cannot be computed is NaN. If the posterior itself is slow to compute, an
// estimate is given until all weights are found: that of the last move needs the posterior, too.
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
