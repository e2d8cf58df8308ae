// What a classifier says of a row of which some values are known, computed as the library computes it.
//
// A row is an array of codes, one for each attribute; UNKNOWN is summed out. Every model answers
// `scores(codes)`: log scores of the classes, whose softmax is the posterior. Networks and pools of their logarithms
// also answer `parts(codes)`: what each attribute adds to them, the prior first.

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
