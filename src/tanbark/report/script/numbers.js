"use strict";
// Unpack the numbers of a page, and add logarithms.

const UNKNOWN = -1;

function unpacked(packed) {
  const bytes = (text) => {
    const letters = atob(text);
    const array = new Uint8Array(letters.length);
    for (let at = 0; at < array.length; at++) array[at] = letters.charCodeAt(at);
    return array.buffer;
  };
  const values = new Float64Array(bytes(packed.values));
  if (!packed.codes) return values;
  // Seven bits of an index in each byte, the lowest first; the eighth bit is set if more bytes follow.
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

function logPosterior(scores, logPrior) {
  const evidence = logSum(scores);
  return evidence === -Infinity ? Array.from(logPrior) : Array.from(scores, (score) => score - evidence);
}

// The parts minus their mean over the possible classes.
function centred(parts) {
  return parts.map((part) => {
    const possible = Array.from(part).filter(Number.isFinite);
    const mean = possible.reduce((sum, value) => sum + value, 0) / Math.max(possible.length, 1);
    return Array.from(part, (value) => value - mean);
  });
}

// The return value of a generator.
function finished(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
