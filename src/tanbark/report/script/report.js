// The interactive parts of the page: answers to what-if questions, tables of nodes, zooming and searching.

const pageData = JSON.parse(document.getElementById("page-data").textContent);
pageData.logPrior = pageData.logPrior.map(Number);
const $ = (id) => document.getElementById(id);

// Create an element with properties and children. Strings become text nodes and are never parsed as HTML.
function made(tag, properties = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...inside);
  return element;
}

function percent(p) {
  for (const digits of [1, 2, 3]) {
    const shown = (100 * p).toFixed(digits);
    if (p === 0 || p === 1 || (Number(shown) !== 0 && Number(shown) !== 100)) return `${shown} %`;
  }
  return p < 0.5 ? "< 0.001 %" : "> 99.999 %";
}

// A name with line-break opportunities after punctuation.
const words = (name) => name.split(/(?<=[_\-./])/).flatMap((part, at) => (at ? [made("wbr"), part] : [part]));

const signed = (weight) =>
  Number.isNaN(weight) ? "–" :
  Number.isFinite(weight) ? (weight > 0 ? "+" : weight < 0 ? "−" : "") + Math.abs(weight).toFixed(2) : weight > 0 ? "+∞" : "−∞";

// What if

const MAX_LISTED_ATTRIBUTES = 20;
const SLICE_MILLISECONDS = 8;
const MILLISECONDS_PER_DAY = 86_400_000;
const REHEARSALS = 40;
const MAX_CACHED_ANSWERS = 5000;
const REHEARSAL_STRIDE = 37; // attributes

class WhatIf {
  constructor(model) {
    this.model = cached(model);
    this.codes = pageData.columns.map(() => UNKNOWN);
    this.moves = [];
    this.longest = 0; // a decaying maximum of the milliseconds that a weight took
    this.rows = new Map();
    this.answers = this.#listAnswers();
    this.ranking = pageData.columns.map((_, u) => u).sort((a, b) => pageData.importance[b] - pageData.importance[a]);
    this.shown = MAX_LISTED_ATTRIBUTES;
    $("find-attribute").addEventListener("input", () => this.#listMoves());
    $("more-attributes").addEventListener("click", () => {
      this.shown += 100;
      this.#listMoves();
    });
    $("forget").addEventListener("click", () => {
      this.codes.fill(UNKNOWN);
      this.moves = [];
      for (const { select, date } of this.rows.values()) {
        select.value = String(UNKNOWN);
        if (date) date.value = "";
      }
      this.update();
    });
    this.update(true);
    this.#listMoves();
    setTimeout(() => this.#rehearse(model, this.codes.slice(), REHEARSALS));
  }

  // Compute answers that are not shown, each with one more value and the last with none, so that the browser has
  // compiled the script before the first question.
  #rehearse(model, codes, left) {
    if (this.moves.length) return;
    if (left) codes[(left * REHEARSAL_STRIDE) % codes.length] = 0;
    try {
      answering(model, pageData.logPrior, left ? codes : this.codes, []).next();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    if (left) setTimeout(() => this.#rehearse(model, codes, left - 1));
  }

  #listAnswers() {
    return pageData.classes.map((label, k) => {
      const radio = made("input", { type: "radio", name: "of-class", value: String(k), checked: k === pageData.classes.length - 1 });
      radio.addEventListener("change", () => this.#show());
      const fill = made("i");
      const number = made("output");
      const row = made("label", {}, radio, made("span", { className: "name" }, ...words(label)), made("span", { className: "bar" }, fill), number);
      $("answers").append(made("li", {}, row));
      return { radio, fill, number };
    });
  }

  #listMoves() {
    const wanted = $("find-attribute").value.trim().toLowerCase();
    const found = this.ranking.filter((u) => pageData.columns[u].name.toLowerCase().includes(wanted));
    const first = found.filter((u, at) => at < this.shown || this.codes[u] !== UNKNOWN);
    $("moves").replaceChildren(...first.map((u) => this.#row(u).item));
    $("more-attributes").hidden = first.length === found.length;
    $("more-attributes").textContent = `Show more of ${found.length.toLocaleString()} attributes`;
    this.#show();
  }

  #row(u) {
    if (this.rows.has(u)) return this.rows.get(u);
    const { name, labels } = pageData.columns[u];
    const id = `attribute-${u}`;
    const select = made("select", { id }, made("option", { value: String(UNKNOWN) }, "(unknown)"));
    select.append(...labels.map((label, code) => made("option", { value: String(code) }, label)));
    select.value = String(this.codes[u]);
    select.addEventListener("change", () => this.set(u, Number(select.value)));
    const date = pageData.dates[u] && this.#dateInput(u);
    const fill = made("i");
    const number = made("output", { htmlFor: id });
    const item = made(
      "li",
      {},
      made("label", { htmlFor: id, className: "name" }, ...words(name)),
      made("span", { className: "value" }, select, ...(date ? [date] : [])),
      made("span", { className: "bar" }, fill),
      number,
    );
    const row = { item, select, date, fill, number };
    this.rows.set(u, row);
    return row;
  }

  // A field for a date, which sets the date's interval, day of the week, month and hour.
  #dateInput(u) {
    const { hasTime, parts } = pageData.dates[u];
    const type = hasTime ? "datetime-local" : "date";
    const date = made("input", { type, "aria-label": `${pageData.columns[u].name}, ${hasTime ? "date and time (UTC)" : "date"}` });
    date.addEventListener("change", () => {
      const moment = Date.parse(hasTime ? `${date.value}Z` : `${date.value}T00:00Z`);
      if (!Number.isNaN(moment)) this.#setCodes(codesOfDate(u, moment));
      else if (!date.value) this.#setCodes([u, ...parts.map(({ column }) => column)].map((column) => [column, UNKNOWN]));
    });
    return date;
  }

  #setCodes(pairs) {
    for (const [u, code] of pairs) {
      this.codes[u] = code;
      this.moves = this.moves.filter((move) => move !== u);
      if (code !== UNKNOWN) this.moves.push(u);
      if (this.rows.has(u)) this.rows.get(u).select.value = String(code);
    }
    this.update();
  }

  // Set one value. A date that was entered no longer describes the columns if one of them is changed.
  set(u, code) {
    for (const [of, { parts }] of Object.entries(pageData.dates)) {
      const date = this.rows.get(Number(of))?.date;
      if (date && (Number(of) === u || parts.some(({ column }) => column === u))) date.value = "";
    }
    this.#setCodes([[u, code]]);
  }

  update(atFirst = false) {
    const began = performance.now();
    this.longest *= 0.9;
    const steps = answering(this.model, pageData.logPrior, this.codes.slice(), this.moves.slice());
    try {
      this.found = steps.next().value;
      $("trouble").hidden = true;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.found = undefined;
      $("trouble").hidden = false;
    }
    this.steps = steps;
    this.#goOn(steps, began + SLICE_MILLISECONDS / 2);
    $("what-if").dataset.milliseconds = String(performance.now() - began);
    if (!atFirst) this.#say();
  }

  // Compute weights while there is time, show those found so far, and continue after the page has handled its events.
  #goOn(steps, until) {
    if (steps !== this.steps) return;
    const wasEstimated = this.found?.estimated;
    let done = Boolean(this.model.parts); // these give all weights at once
    for (let began; !done && (began = performance.now()) + this.longest < until; ) {
      done = steps.next().done;
      this.longest = Math.max(performance.now() - began, this.longest);
    }
    $("what-if").dataset.ready = String(done);
    this.#show();
    if (wasEstimated && !this.found.estimated) this.#say();
    if (!done) setTimeout(() => this.#goOn(steps, performance.now() + this.longest + SLICE_MILLISECONDS));
  }

  #say() {
    if (!this.found) return;
    const { posterior, estimated } = this.found;
    const best = posterior.indexOf(Math.max(...posterior));
    const share = (estimated ? "about " : "") + percent(Math.exp(posterior[best]));
    $("said").textContent = `${pageData.className}: ${pageData.classes[best]}, ${share}`;
  }

  #show() {
    const of = this.answers.findIndex(({ radio }) => radio.checked);
    this.answers.forEach(({ fill, number }, k) => {
      const p = this.found ? Math.exp(this.found.posterior[k]) : NaN;
      fill.style.width = `${100 * (p || 0)}%`;
      number.textContent = this.found ? (this.found.estimated ? "≈ " : "") + percent(p) : "–";
      number.title = this.found?.estimated ? "An estimate; the exact average is being computed." : "";
      number.dataset.log = this.found ? String(this.found.posterior[k]) : "";
    });
    const weights = this.found?.weights.map((weight) => weight[of]) ?? [];
    const sizes = weights.filter(Number.isFinite).map(Math.abs);
    const most = Math.max(1, ...sizes);
    for (const [u, { item, fill, number }] of this.rows) {
      const known = this.codes[u] !== UNKNOWN && this.found !== undefined;
      const weight = known ? weights[u] : 0;
      const share = Math.min(Math.abs(weight) / most, 1) * 50;
      item.classList.toggle("known", known);
      fill.style.width = `${share}%`;
      fill.style.left = weight < 0 ? `${50 - share}%` : "50%";
      fill.style.background = weight < 0 ? "var(--against)" : "var(--for)";
      number.textContent = known ? signed(weight) : "";
      number.dataset.weights = known ? JSON.stringify(this.found.weights[u].map(String)) : "";
    }
    $("of-class").textContent = pageData.classes[of];
    $("prior-weight").textContent = this.found ? signed(this.found.prior[of]) : "–";
    $("prior-weight").dataset.weights = this.found ? JSON.stringify(this.found.prior.map(String)) : "";
  }
}

// The code of each column that is computed from a date, given in milliseconds since 1970-01-01 UTC.
function codesOfDate(u, moment) {
  const { cuts, parts } = pageData.dates[u];
  const whole = Math.floor(moment / MILLISECONDS_PER_DAY);
  const days = whole + (moment - whole * MILLISECONDS_PER_DAY) / MILLISECONDS_PER_DAY;
  const date = new Date(moment);
  const values = { weekday: (date.getUTCDay() + 6) % 7, month: date.getUTCMonth(), hour: date.getUTCHours() };
  return [[u, cuts.filter((cut) => days > cut).length], ...parts.map(({ column, part, codes }) => [column, codes[values[part]]])];
}

// A model that caches its answers, so that a new move needs only one answer.
function cached(model) {
  const answers = new Map();
  function* scoring(codes) {
    const key = codes.join();
    if (!answers.has(key)) {
      if (answers.size > MAX_CACHED_ANSWERS) answers.clear();
      answers.set(key, model.scoring ? yield* model.scoring(codes) : model.scores(codes));
    }
    return answers.get(key);
  }
  return {
    scoring,
    scores: (codes) => finished(scoring(codes)),
    estimate: (codes) => (answers.has(codes.join()) ? undefined : model.estimate?.(codes)),
    parts: model.parts && ((codes) => model.parts(codes)),
  };
}

// Tables of nodes

const MAX_TABLE_CELLS = 2000;

// The member of an ensemble to which a path of indices leads.
const memberAt = (model, path) => path.reduce((member, at) => member.members[at], model);

// The parents of a node and its probabilities, with an axis for each parent attribute, the node's values, and the class.
function tableOf(of, drawing, node) {
  const n = pageData.columns.length;
  const classes = pageData.classes.length;
  if (of instanceof TreeAverage) {
    if (node === n) return { parents: [], probabilities: (_, j, k) => Math.exp(of.logPrior[k]), withClass: true };
    const parents = drawing.parents[node].filter((p) => p !== n);
    return { parents, withClass: true, probabilities: (values, j, k) => of.conditional(node, parents, values, j, k) };
  }
  if (of instanceof SuperParentsMean) {
    if (node === n) return { parents: [], probabilities: (_, j, k) => Math.exp(of.logPrior[k]), withClass: true };
    return { parents: [], withClass: true, probabilities: (_, j, k) => Math.exp(of.alone[(of.offset[node] + j) * classes + k]) };
  }
  const network = of.network ?? of;
  const withClass = network.width[node] > 1;
  const probabilities = (values, j, k) => {
    let row = 0;
    network.attributeParents[node].forEach((p, at) => (row = row * network.arity[p] + values[at]));
    return Math.exp(network.term(node, (row * network.own[node] + (node === n ? 0 : j)) * network.width[node], k));
  };
  return { parents: network.attributeParents[node], withClass, probabilities };
}

// The number of rows that are shown of a table with many columns, before more are asked for.
const rowsAtFirst = (columns) => Math.max(Math.floor(MAX_TABLE_CELLS / columns), 5);

// A button that shows more rows of a table if it has more.
function moreButton(total, most, fill) {
  if (total <= most) return [];
  const [next, all] = [Math.min(total, 5 * most), total].map((many) => many.toLocaleString());
  const button = made("button", { type: "button" }, `Show ${next} of ${all} rows`);
  button.addEventListener("click", () => fill(5 * most));
  return [button];
}

function showTable(model, drawing, node) {
  const of = memberAt(model, drawing.path);
  if (of instanceof EvidenceTables) {
    showEvidence(of, node);
    return;
  }
  const n = pageData.columns.length;
  const ofClass = node === n;
  const named = (u) => (u === n ? { name: pageData.className, labels: pageData.classes } : pageData.columns[u]);
  const { parents, withClass, probabilities } = tableOf(of, drawing, node);
  const one = drawing.ofClass ?? undefined;
  const given = ofClass || !withClass || one !== undefined ? parents : [...parents, n];
  const own = named(node).labels;
  const sizes = given.map((u) => named(u).labels.length);
  const total = sizes.reduce((product, size) => product * size, 1);
  const place = $("table");
  const fill = (most) => {
    const body = made("tbody");
    const values = given.map(() => 0);
    for (let row = 0; row < Math.min(total, most); row++) {
      const line = made("tr");
      given.forEach((u, at) => line.append(made("th", { scope: "row" }, named(u).labels[values[at]])));
      if (!given.length) line.append(made("th", { scope: "row" }, ""));
      const k = one ?? (ofClass || !withClass ? 0 : values.at(-1));
      own.forEach((_, j) => {
        const p = probabilities(values, j, ofClass ? j : k);
        const cell = made("td", { className: "number heat" }, percent(p));
        cell.style.setProperty("--p", p);
        cell.dataset.p = String(p);
        line.append(cell);
      });
      body.append(line);
      for (let at = given.length - 1; at >= 0; at--) {
        if (++values[at] < sizes[at]) break;
        values[at] = 0;
      }
    }
    const head = made("tr");
    given.forEach((u) => head.append(made("th", { scope: "col" }, named(u).name)));
    if (!given.length) head.append(made("th", {}, ""));
    own.forEach((label) => head.append(made("th", { scope: "col", className: "number" }, label)));
    const conditions = given.map((u) => named(u).name);
    if (one !== undefined && !ofClass) conditions.push(drawing.title);
    const heading = made("h3", {}, `P(${named(node).name}${conditions.length ? " | " + conditions.join(", ") : ""})`);
    const grid = made("table", { className: "heatmap" }, made("thead", {}, head), body);
    const parts = [heading, made("div", { className: "wide", tabIndex: 0 }, grid), ...moreButton(total, most, fill)];
    place.replaceChildren(...parts);
  };
  fill(rowsAtFirst(own.length));
  place.scrollIntoView({ block: "nearest" });
}

function listenToDrawings(model) {
  document.querySelectorAll(".drawing").forEach((frame, at) => {
    const drawing = pageData.drawings[at];
    const svg = frame.querySelector("svg");
    const choose = (group) => {
      document.querySelectorAll(".node.chosen").forEach((other) => {
        other.classList.remove("chosen");
        other.setAttribute("aria-pressed", "false");
      });
      group.classList.add("chosen");
      group.setAttribute("aria-pressed", "true");
      if (model) showTable(model, drawing, Number(group.dataset.node));
    };
    svg.addEventListener("click", (event) => {
      const group = event.target.closest(".node");
      if (group) choose(group);
    });
    // The Tab key reaches one node of a drawing; the arrow keys lead to the others.
    const groups = [...svg.querySelectorAll(".node")];
    groups.forEach((group, at) => group.setAttribute("tabindex", at ? "-1" : "0"));
    const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
    svg.addEventListener("keydown", (event) => {
      const group = event.target.closest(".node");
      if (!group) return;
      if (event.key === "Enter" || event.key === " ") choose(group);
      else if (event.key in STEPS) {
        const to = Math.min(Math.max(groups.indexOf(group) + STEPS[event.key], 0), groups.length - 1);
        group.setAttribute("tabindex", "-1");
        groups[to].setAttribute("tabindex", "0");
        groups[to].focus();
      } else return;
      event.preventDefault();
    });
    const [width, height] = [svg.width.baseVal.value, svg.height.baseVal.value];
    let scale = 1;
    const zoom = (to) => {
      scale = Math.min(Math.max(to, 0.05), 4);
      svg.setAttribute("width", width * scale);
      svg.setAttribute("height", height * scale);
    };
    // A drawing that is slightly too wide is scaled to fit.
    const fits = (frame.clientWidth - 20) / width;
    if (fits < 1 && fits > 0.6) zoom(fits);
    const tools = frame.previousElementSibling;
    tools.querySelector(".larger").addEventListener("click", () => zoom(scale * 1.25));
    tools.querySelector(".smaller").addEventListener("click", () => zoom(scale / 1.25));
    tools.querySelector(".whole").addEventListener("click", () => zoom(Math.min(1, (frame.clientWidth - 20) / width)));
    tools.querySelector("input").addEventListener("input", (event) => {
      const wanted = event.target.value.trim().toLowerCase();
      const names = [...pageData.columns.map((column) => column.name), pageData.className];
      const exact = names.findIndex((name) => name.toLowerCase() === wanted);
      const node = exact >= 0 ? exact : names.findIndex((name) => wanted && name.toLowerCase().includes(wanted));
      const group = svg.querySelector(`[data-node="${node}"]`);
      if (!group) return;
      choose(group);
      group.scrollIntoView({ block: "center", inline: "center" });
    });
  });
}

const model = pageData.scorer ? modelOf(pageData) : undefined;
listenToDrawings(model);
if (model) new WhatIf(model);
