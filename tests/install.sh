# Build the source distribution, and from it and from here a wheel; use the wheel in an empty environment and folder.
set -eu
python=$1
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH
cd "$work"
"$python" -m venv builder
builder/bin/pip install --quiet --disable-pip-version-check build
builder/bin/python -m build --sdist --outdir sdist "$root" > build.txt
builder/bin/python -m build --wheel --outdir wheel "$root" >> build.txt
mkdir unpacked
tar -xzf sdist/*.tar.gz -C unpacked
builder/bin/python -m build --wheel --outdir again unpacked/* >> build.txt
cmp wheel/*.whl again/*.whl

"$python" -m venv empty
empty/bin/pip install --quiet --disable-pip-version-check wheel/*.whl
PATH="$work/empty/bin:$PATH"
mkdir -p folder/data
cd folder
tanbark --version
python -m tanbark demo > demo.txt
python - <<'END'
import csv

from tanbark import TAN, datasets

X, y = datasets.lenses()
model = TAN().fit(X, y)
assert model.predict([["young", None, "no", "normal"]]) == ["soft"]
print(model.network_)
for name in ("iris", "lenses"):
    rows = datasets.load(name).frame().to_pylist()
    with open(f"data/{name}.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
END
tanbark fit data/iris.csv --report iris.html
tanbark show iris.tanbark > show.txt
tanbark predict iris.tanbark - < data/iris.csv > predictions.csv
tanbark update iris.tanbark data/iris.csv
tanbark compare data/iris.csv --models naive-bayes,tan,cart --folds 3
tanbark reproduce gabn2007 --quick --only lenses,iris > reproduce.txt
tanbark report iris.tanbark data/iris.csv
ls -A
