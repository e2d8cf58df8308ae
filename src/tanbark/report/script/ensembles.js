// The mean over all super-parents whose values vote; naive Bayes if there are none.
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

// A weighted mean of the class probabilities of several models, or of their logarithms.
class Pool {
  static IMPOSSIBLE = -700;

  constructor({ members, weights, linear, logPrior, ratio }) {
    Object.assign(this, { members, weights, linear, logPrior, ratio });
    if (linear || !members.every((member) => member.parts)) this.parts = undefined;
  }

  // For a row that is impossible under a member, use its prior. A class that is impossible under a member is not vetoed.
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

// Networks that each vote for their most probable class.
class Votes {
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
      const least = Math.max(...scores) - Votes.SLACK;
      tally[scores.findIndex((score) => !(score < least))] += this.weights[m];
      total += this.weights[m];
    });
    return tally.map((votes, k) => (this.temperature * votes) / total + this.ratio[k]);
  }
}
