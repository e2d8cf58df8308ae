// The evidence of the values of an attribute in an additive model, and its prior.

const MIN_DEEPEST_WEIGHT = 0.25; // nats; the greatest weight of a table has the deepest colour unless it is smaller

function showEvidence(model, node) {
  const ofClass = node === pageData.columns.length;
  $("table").replaceChildren(...(ofClass ? priorPanel(model) : evidencePanel(model, node)));
  $("table").scrollIntoView({ block: "nearest" });
}

function headOf(...cells) {
  return made("thead", {}, made("tr", {}, ...cells));
}

const classHeads = () => pageData.classes.map((label) => made("th", { scope: "col", className: "number" }, label));

// Cells for rows of weights, in the colours of their signs.
function weightCells(table) {
  const deepest = Math.max(MIN_DEEPEST_WEIGHT, ...table.flat().filter(Number.isFinite).map(Math.abs));
  return table.map((weights) =>
    weights.map((weight) => {
      const cell = made("td", { className: "number heat" }, signed(weight));
      cell.style.setProperty("--p", Math.min(Math.abs(weight) / deepest, 1));
      cell.style.setProperty("--heat", weight < 0 ? "var(--against)" : "var(--for)");
      cell.dataset.weight = String(weight);
      return cell;
    }),
  );
}

function priorPanel(model) {
  const [weights] = weightCells(centred([model.base]));
  const before = logPosterior(model.base, model.logPrior);
  const shares = (logs) => Array.from(logs, (log) => made("td", { className: "number" }, percent(Math.exp(log))));
  const line = (name, cells) => made("tr", {}, made("th", { scope: "row" }, name), ...cells);
  const body = made(
    "tbody",
    {},
    line("prior probability", shares(model.logPrior)),
    line("probability before any value is known", shares(before)),
    line("its weight", weights),
  );
  return [
    made("h3", {}, `Prior of ${pageData.className}`),
    made("p", {}, "The score of a class starts with the log of its prior probability and a bias that was fitted with the weights of the attributes. The weight is in nats, centred over the classes."),
    made("div", { className: "wide", tabIndex: 0 }, made("table", { className: "heatmap" }, headOf(made("th"), ...classHeads()), body)),
  ];
}

function evidencePanel(model, u) {
  const { name, labels } = pageData.columns[u];
  const parents = model.parents[u];
  const given = parents.map(() => undefined);
  const grid = made("div", { className: "wide tall", tabIndex: 0 });
  const more = made("p");
  const fill = (most) => {
    const found = labels.slice(0, most).map((_, code) => model.meanEntries(u, given, code));
    const cells = weightCells(found.map(({ entries }) => entries));
    const lines = found.map(({ rows }, code) => {
      const count = made("td", { className: "number" }, rows.toLocaleString(undefined, { maximumFractionDigits: 1 }));
      return made("tr", {}, made("th", { scope: "row" }, labels[code]), count, ...cells[code]);
    });
    const heads = [made("th", { scope: "col" }, name), made("th", { scope: "col", className: "number" }, "rows"), ...classHeads()];
    grid.replaceChildren(made("table", { className: "heatmap" }, headOf(...heads), made("tbody", {}, ...lines)));
    more.replaceChildren(...moreButton(labels.length, most, fill));
  };
  const choices = parents.map((p, at) => {
    const select = made("select", {}, made("option", { value: "" }, "(all training rows)"));
    model.contexts[p].forEach((label, digit) => label !== null && select.append(made("option", { value: String(digit) }, label)));
    select.append(made("option", { value: String(model.sizes[p] - 1) }, "(unknown)"));
    select.addEventListener("change", () => {
      given[at] = select.value === "" ? undefined : Number(select.value);
      fill(rowsAtFirst(pageData.classes.length));
    });
    return made("label", {}, `${pageData.columns[p].name} `, select);
  });
  const parts = [
    made("h3", {}, `Evidence of ${name}`),
    made("p", {}, `The weight of evidence of each value of ${name} for each class, in nats, centred over the classes: positive weights speak for a class, negative ones against it. Shown is the mean over the training rows with the value, and how many these are.`),
  ];
  if (parents.length) {
    const others = parents.map((p) => pageData.columns[p].name).join(" and ");
    parts.push(
      made("p", {}, `The evidence also depends on ${others}. Select a value to see the weights of rows that have it. If there are none, the weight that the model would use is shown.`),
      made("div", { className: "tools" }, ...choices),
    );
  }
  fill(rowsAtFirst(pageData.classes.length));
  return [...parts, grid, more];
}
