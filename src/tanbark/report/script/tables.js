// Operations of variable elimination on tables over attributes' values, with the class last.

// Divide a table by the maximum of each class, whose logarithm is added to `logs`. Return whether all entries are above
// 1e-300, so that no precision is lost: numbers below 1e-308 are denormal.
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

// All combinations of some attributes' values, the last one fastest, and their positions in tables with given strides.
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

// Operations for each combination of some attributes' values, all values of one more attribute, and each class.

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
