"""Measure reports: the time to write them, their size, and their response times in a browser.

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
HOW = "All figures are from the same run, one program at a time."
MOVES = 300
PAUSE_SECONDS = 1.0
"""The time from opening a page to the first move."""
MOVE_SCRIPT = f"""(async (done) => {{
const select = (u) => {{
  document.getElementById("find-attribute").value = pageData.columns[u].name;
  document.getElementById("find-attribute").dispatchEvent(new Event("input"));
  return document.getElementById("attribute-" + u);
}};
const panel = document.getElementById("what-if");
const frames = [], wholes = [];
let seed = 1, refused = 0;
const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
for (let turn = 0; turn < {MOVES}; turn++) {{
  const box = select(random(pageData.columns.length));
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
    """Return rows in which each attribute depends on the class and on the attribute before it."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, rows)
    X = rng.integers(0, levels, (rows, attributes))
    for u in range(1, attributes):
        same = rng.random(rows) < 0.3
        X[same, u] = (X[same, u - 1] + y[same]) % levels
    return X.astype(str), y


def noise(rows, attributes, levels, classes):
    """Return rows in which all columns are independent, so that no tree is much better than others."""
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


def process_seconds(*arguments):
    """Return the run time of a Python process."""

    def run():
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)

    return best(run, 5)


def main():
    shape = 5000, 60, 10, 3
    models = [NaiveBayes(), TAN(), KDB(k=2), AveragedTAN(), AODE(), AdditiveBN(), BoostedBN()]
    cases = [(model, wide_table(*shape), "") for model in models]
    cases += [(model, noise(*shape), ", independent columns") for model in (KDB(k=2), AveragedTAN())]
    lines = [
        "# Reports",
        "",
        *machine(HOW),
        "| 5,000 rows x 60 attributes x 10 levels x 3 classes | without rows | with all rows | size | "
        f"response, median of {MOVES} moves | sixth slowest | slowest | "
        "all weights, median | sixth slowest | slowest | no answer |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    driver = browser()
    for model, (X, y), note in cases:
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
            time.sleep(PAUSE_SECONDS)
            frames, wholes, refused = driver.execute_async_script(MOVE_SCRIPT)
            size = path.stat().st_size / 1e6
        name = type(model).__name__ + note
        cells = [name, *map(seconds, times), f"{size:.2f} MB"]
        cells += [f"{found[place]:.1f} ms" for found in (frames, wholes) for place in (MOVES // 2, -6, -1)]
        lines.append(f"| {' | '.join(cells)} | {refused} |")
        print(lines[-1], flush=True)
    driver.quit()
    lines += [
        "",
        "A script makes moves in the page as a person would: it sets any attribute, to any value in three of four "
        "cases and to unknown otherwise. The first move is one second after the page was opened, and each further "
        "move after all results of the one before. The response time is that until the page is redrawn with the "
        "probabilities and the weights of evidence that are quickly available. For models whose weights are the "
        "changes made by each move, changing or undoing an early one of many moves recomputes all later weights. They "
        "appear while the page can be used, and the last columns show when all are available. If unknown attributes "
        "cannot be marginalised, the page says so: no answer.",
        "",
        "| process | run time |",
        "| --- | --- |",
        f"| `python -c pass` | {seconds(process_seconds('-c', 'pass'))} |",
        f"| `import tanbark` | {seconds(process_seconds('-c', 'import tanbark'))} |",
        f"| `tanbark --help` | {seconds(process_seconds('-m', 'tanbark', '--help'))} |",
        f"| `tanbark fit --help` | {seconds(process_seconds('-m', 'tanbark', 'fit', '--help'))} |",
        "",
    ]
    (HERE / "results" / "report.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
