"""Measure reports: how long they take to write, how large they are, how soon they answer in a browser.

python -m bench.report writes bench/results/report.md. It needs chromium and chromedriver.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from selenium import webdriver

from bench.tables import best, machine, seconds
from tanbark import AODE, KDB, TAN, AdditiveBN, AveragedTAN, BoostedBN, NaiveBayes, write_report

HERE = Path(__file__).parent
HOW = "All figures are of this one run, one program at a time."
MOVES = 300
PAUSE = 1.0
"""Seconds from opening a page to the first move."""
ASK = f"""(async (done) => {{
const select = (u) => {{
  document.getElementById("find-attribute").value = carried.columns[u].name;
  document.getElementById("find-attribute").dispatchEvent(new Event("input"));
  return document.getElementById("attribute-" + u);
}};
const panel = document.getElementById("what-if");
const frames = [], wholes = [];
let seed = 1, refused = 0;
const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
for (let turn = 0; turn < {MOVES}; turn++) {{
  const box = select(random(carried.columns.length));
  const began = performance.now();
  box.value = random(4) ? String(random(10)) : "-1";
  box.dispatchEvent(new Event("change"));
  frames.push(performance.now() - began);
  if (!document.getElementById("trouble").hidden) refused++;
  while (panel.dataset.ready !== "true") await new Promise((next) => setTimeout(next));
  wholes.push(performance.now() - began);
}}
const sorted = (times) => times.sort((a, b) => a - b);
done([sorted(frames), sorted(wholes), refused]);
}})(...arguments);"""


def wide_table(rows, attributes, levels, classes):
    """Return rows of which each attribute depends on the class and on the one before."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, rows)
    X = rng.integers(0, levels, (rows, attributes))
    for u in range(1, attributes):
        same = rng.random(rows) < 0.3
        X[same, u] = (X[same, u - 1] + y[same]) % levels
    return X.astype(str), y


def noise(rows, attributes, levels, classes):
    """Return rows in which nothing depends on anything: no tree is much better than others."""
    rng = np.random.default_rng(0)
    return rng.integers(0, levels, (rows, attributes)).astype(str), rng.integers(0, classes, rows)


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-background-networking"):
        options.add_argument(f"--{argument}")
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    driver.set_script_timeout(600)
    return driver


def started(*words):
    """Return how long a process takes from its start to its end."""

    def run():
        subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)

    return best(run, 5)


def main():
    shape = 5000, 60, 10, 3
    models = [NaiveBayes(), TAN(), KDB(k=2), AveragedTAN(), AODE(), AdditiveBN(), BoostedBN()]
    tried = [(model, wide_table(*shape), "") for model in models]
    tried += [(model, noise(*shape), ", nothing but noise") for model in (KDB(k=2), AveragedTAN())]
    lines = [
        "# Reports",
        "",
        *machine(HOW),
        "| 5,000 rows x 60 attributes x 10 levels x 3 classes | without rows | with all rows | size | "
        f"answer, median of {MOVES} moves | slowest but five | slowest | "
        "all weights, median | slowest but five | slowest | no answer |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    driver = browser()
    for model, (X, y), of in tried:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "report.html")
            write_report(model.fit(X[:100], y[:100]), path, (X[:100], y[:100]))
            model.fit(X, y)
            times = []
            for data in (None, (X, y)):
                began = time.perf_counter()
                write_report(model, path, data)
                times.append(time.perf_counter() - began)
            driver.get(path.as_uri())
            time.sleep(PAUSE)
            frames, wholes, refused = driver.execute_async_script(ASK)
            size = path.stat().st_size / 1e6
        name = type(model).__name__ + of
        cells = [name, *map(seconds, times), f"{size:.2f} MB"]
        cells += [f"{found[place]:.1f} ms" for found in (frames, wholes) for place in (MOVES // 2, -6, -1)]
        lines.append(f"| {' | '.join(cells)} | {refused} |")
        print(lines[-1], flush=True)
    driver.quit()
    lines += [
        "",
        "Moves are made as a person makes them, in the page, the first a second after it was opened, each other when "
        "all of the one before is there: any attribute, three of four times set to any value, else to unknown. The "
        "answer is what the page does before it can be seen again: the probabilities, and the weights of evidence "
        "that are soon found. Where a weight is what a move changed, and an early move of many is taken back or "
        "changed, all later ones are found anew; they follow while the page can be used, and the last columns say "
        "when all are there. Where what is unknown cannot be summed out the page says so: no answer.",
        "",
        "| a process | from start to end |",
        "| --- | --- |",
        f"| `python -c pass` | {seconds(started('-c', 'pass'))} |",
        f"| `import tanbark` | {seconds(started('-c', 'import tanbark'))} |",
        f"| `tanbark --help` | {seconds(started('-m', 'tanbark', '--help'))} |",
        f"| `tanbark fit --help` | {seconds(started('-m', 'tanbark', 'fit', '--help'))} |",
        "",
    ]
    (HERE / "results" / "report.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
