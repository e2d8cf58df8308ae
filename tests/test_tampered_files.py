"""Model files that are broken, or that a stranger has changed: nothing runs, and one sentence says what is wrong."""

import json
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load, load_file, save_file

import tanbark
from saved_models import many_levels, table
from tanbark import (
    AODE,
    KDB,
    TAN,
    AdditiveBN,
    AveragedTAN,
    BayesNet,
    BoostedBN,
    BoostedTables,
    Encoder,
    EnsembleBN,
    EvidenceBN,
    NaiveBayes,
    Stream,
    SuperParent,
)
from tanbark.compressed_arrays import decompress_arrays
from tanbark.files import FORMAT, ModelFileError, _digest, to_bytes


@pytest.fixture
def saved(tmp_path):
    model = TAN().fit(*table())
    tanbark.save(model, tmp_path / "model.tanbark")
    return model, tmp_path / "model.tanbark"


def test_a_file_cut_short_anywhere_gets_one_sentence(saved, tmp_path):
    _, path = saved
    content = path.read_bytes()
    for length in [0, 1, 7, 8, 9, 100, len(content) // 2, len(content) - 1]:
        (tmp_path / "cut").write_bytes(content[:length])
        with pytest.raises(ModelFileError, match="cut is not a tanbark model, or is incomplete") as caught:
            tanbark.load(tmp_path / "cut")
        assert "\n" not in str(caught.value)


def test_a_flipped_bit_anywhere_is_noticed(saved, tmp_path):
    _, path = saved
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(content), 150):
        broken = bytearray(content)
        broken[at] ^= 1 << int(rng.integers(0, 8))
        (tmp_path / "broken").write_bytes(broken)
        with pytest.raises(ModelFileError):
            tanbark.load(tmp_path / "broken")


def test_foreign_files_are_named_as_such(tmp_path):
    (tmp_path / "text").write_text("hello")
    save_file({"weights": np.zeros(3)}, tmp_path / "other.safetensors")
    for name in ("text", "other.safetensors"):
        with pytest.raises(ModelFileError, match=f"{name} is not a tanbark model"):
            tanbark.load(tmp_path / name)
    with pytest.raises(ModelFileError, match="is a folder"):
        tanbark.load(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        tanbark.load(tmp_path / "nothing")


def with_header(path, target, change):
    """Write the model anew with its header changed."""
    from safetensors import safe_open

    with safe_open(str(path), "np") as file:
        header = json.loads(file.metadata()["tanbark"])
    change(header)
    save_file(load_file(path), target, {"tanbark": json.dumps(header)})


def test_a_file_from_the_future_names_both_versions(saved, tmp_path):
    _, path = saved
    with_header(path, tmp_path / "new", lambda header: header.update(format=FORMAT + 1, version="9.9"))
    with pytest.raises(
        ModelFileError, match=rf"tanbark 9\.9 in format {FORMAT + 1}, but this is tanbark {tanbark.__version__}"
    ):
        tanbark.load(tmp_path / "new")


@pytest.mark.parametrize("field", ["schema", "parents", "params", "model", "state", "sha256"])
def test_a_header_that_was_tampered_with_is_refused(field, saved, tmp_path):
    _, path = saved
    with_header(path, tmp_path / "odd", lambda header: header.update({field: "nonsense"}))
    with pytest.raises(ModelFileError, match="is damaged"):
        tanbark.load(tmp_path / "odd")


def test_a_header_of_nothing_but_brackets_is_refused(tmp_path):
    save_file({"table": np.zeros(1)}, tmp_path / "m", {"tanbark": "[" * 100_000})
    with pytest.raises(ModelFileError, match="is not a tanbark model"):
        tanbark.load(tmp_path / "m")


def test_counts_of_values_beyond_those_of_their_class_are_refused(tmp_path):
    model = TAN().fit(*table())
    path = tmp_path / "m.tanbark"
    counts = tanbark.Counts(model.schema_, model.counts_.class_counts, model.counts_.table * 10**9)
    model.model_ = replace(model.model_, counts=counts)
    tanbark.save(model, path)
    with pytest.raises(ModelFileError, match="a value was seen more often than its class"):
        tanbark.load(path)


def rewritten(model, path, change):
    """Write a model with its header and arrays changed by a stranger who knows how to compute the checksum."""
    packed = json.loads(to_bytes(model)[8 : 8 + int.from_bytes(to_bytes(model)[:8], "little")])
    header = json.loads(packed["__metadata__"]["tanbark"])
    arrays = decompress_arrays(load(to_bytes(model)), header.pop("compressed", {}))
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(header, arrays)
    header = json.loads(json.dumps(header))
    header["sha256"] = _digest({k: v for k, v in header.items() if k != "sha256"}, arrays)
    save_file(arrays, path, {"tanbark": json.dumps(header)})
    return path


def setting(*way, to):
    """Return a change of one value of the header."""

    def change(header, arrays):
        for step in way[:-1]:
            header = header[step]
        header[way[-1]] = to

    return change


def filling(name, at, value):
    """Return a change of some values of an array."""

    def change(header, arrays):
        arrays[name][at] = value

    return change


def as_floats(name, value):
    """Return a change of the first value of an array of rounded numbers, which are floats in earlier files."""

    def change(header, arrays):
        arrays[name] = arrays[name].astype(float)
        arrays[name].flat[0] = value

    return change


def with_ratios(value):
    """Return a change by which the ratios of an average, which follow from the counts, are in the file."""

    def change(header, arrays):
        total = len(arrays["values"])
        arrays["ratios"] = np.full((total, total, len(header["schema"]["classes"])), value)

    return change


def cutting_off(u):
    """Return a change by which no edge leads to an attribute."""

    def change(header, arrays):
        arrays["log_weights"][:, u] = arrays["log_weights"][:, :, u] = -np.inf

    return change


def of_single_values(header, arrays):
    arrays["table"] = np.ascontiguousarray(np.diagonal(arrays["table"], axis1=1, axis2=2))


def of_no_columns(header, arrays):
    header["schema"]["columns"] = []
    arrays["table"] = np.zeros((3, 0, 0), np.int64)


def nested(header, arrays):
    for _ in range(600):
        header["params"]["ess"] = [header["params"]["ess"]]


def listing_counts(header, arrays):
    header["params"]["prior"] = [{"counts": header["schema"]}]
    arrays |= {"prior_class_counts": arrays["class_counts"], "prior_table": arrays["table"]}


# Most of these were once loaded, and then a kernel read beyond an array or something failed without a sentence.
TAMPERED = [
    # A column with fewer codes than levels: the last levels would be taken for missing.
    (TAN, setting("schema", "columns", 1, "other", to=-1), "other must be True or False, got -1"),
    (TAN, setting("schema", "columns", 1, "missing", to=-1), "missing must be True or False, got -1"),
    (TAN, setting("schema", "columns", 0, "missing", to=-1), "missing must be True or False, got -1"),
    (TAN, setting("schema", "columns", 0, "low", to=float("nan")), "low and high must not be NaN"),
    (TAN, setting("schema", "columns", 2, "levels", 0, to=10**400), "a level is too large for a float"),
    (TAN, setting("schema", "columns", 0, "name", to=False), "a name that is not a string"),
    (TAN, setting("schema", "named", to="x"), "'named' must be True or False, got 'x'"),
    (TAN, setting("schema", "classes", 0, to=None), "levels must be strings, numbers or booleans"),
    (TAN, setting("schema", "classes", 0, to=float("nan")), "levels must be strings, numbers or booleans"),
    (TAN, setting("schema", "class_dtype", to="<U100000000"), "invalid dtype of the classes"),
    (TAN, setting("schema", "class_dtype", to="<M8[s]"), "invalid dtype of the classes"),
    (TAN, setting("schema", "class_dtype", to="|b1"), "the classes change when converted to dtype"),
    (TAN, of_no_columns, "no columns or no classes"),
    (TAN, setting("params", "n_jobs", to="x"), "n_jobs must be a whole number"),
    (TAN, setting("params", "encoder", to="x"), "does not describe a model"),
    (TAN, setting("state", "tree_edges", 0, 0, to=99), "an edge to an attribute that does not exist"),
    (TAN, setting("state", "tree_edges", 0, 0, to=float("inf")), "does not describe a model"),
    (TAN, nested, "does not describe a model"),
    (TAN, of_single_values, "counts are of single values"),
    (TAN, filling("class_counts", slice(None), 1), "a value was seen more often than its class"),
    (TAN, filling("table", np.s_[:, 0, 1], 9), "two values were seen together more often than each of them"),
    (NaiveBayes, filling("table", slice(None), 1000), "a value was seen more often than its class"),
    (NaiveBayes, filling("table", slice(None), 10), "the values of a column were seen more often than their class"),
    (NaiveBayes, filling("class_counts", slice(None), 2**62), "the counts exceed 2"),
    # Rows that cannot be drawn: every value has probability zero.
    (TAN, filling("log_table_0", slice(None), -np.inf), "do not sum to 1"),
    (TAN, filling("log_table_0", slice(None), -1e-3), "do not sum to 1"),
    (AODE, filling("log_prior", slice(None), -np.inf), "do not sum to 1"),
    (KDB, setting("state", "seed", to=-1), "its seed must be a whole number"),
    (KDB, setting("state", "seed", to=float("inf")), "its seed must be a whole number"),
    (AveragedTAN, listing_counts, "lists several counts"),
    # Each weight is finite, but not their sum.
    (BoostedBN, filling("estimator_weights", slice(None), 1e308), "weights of its votes must be positive and finite"),
    (BoostedBN, filling("prior_ratio", slice(None), 1e308), "its prior_ratio is invalid"),
    # Weights of edges under which draws take the numbers of attributes from memory that nobody has written.
    (AveragedTAN, filling("log_weights", np.s_[:, 0], -np.inf), "not symmetric"),
    (AveragedTAN, filling("log_weights", slice(None), -np.inf), "allow no spanning tree"),
    (AveragedTAN, cutting_off(1), "allow no spanning tree"),
    (AveragedTAN, filling("log_weights", slice(None), np.inf), "infinite"),
    (AveragedTAN, with_ratios(-1.0), "not probabilities"),
    (AveragedTAN, with_ratios(1e300), "sum to more than 1"),
    (AveragedTAN, setting("state", "ess", to=0), "its ess must be a number from 1e-100 to 1e+100, got 0"),
    (AveragedTAN, setting("state", "ess", to=True), "its ess must be a number from 1e-100 to 1e+100, got True"),
    (AveragedTAN, setting("state", "ess", to=None), "its ess must be a number from 1e-100 to 1e+100, got None"),
    (AveragedTAN, of_single_values, "its tables follow from counts of pairs"),
    (AODE, of_single_values, "its tables follow from counts of pairs"),
    (AODE, setting("state", "estimator", 0, to="mle"), "its estimator must be one of ml, softened, dirichlet"),
    (AODE, setting("state", "estimator", 0, to=["ml"]), "its header does not describe a model"),
    (AODE, setting("state", "estimator", to=5), "its header does not describe a model"),
    (AODE, setting("state", "estimator", 1, to=float("nan")), "its ess must be a number from 1e-100 to 1e+100"),
    (AdditiveBN, setting("state", "estimator", 1, to=1e101), "its ess must be a number from 1e-100 to 1e+100"),
    (AveragedTAN, filling("values", slice(None), 1e-3), "do not sum to 1"),
    (AveragedTAN, filling("log_prior", slice(None), -np.inf), "do not sum to 1"),
    (AveragedTAN, setting("state", "log_evidence", to=float("nan")), "its log_evidence must be a number"),
    (AveragedTAN, setting("state", "root", to=-1), "the root of the average must be an attribute"),
    (AveragedTAN, setting("state", "root", to=True), "an invalid root"),
    (AveragedTAN, setting("state", "root", to=10**9), "the root of the average must be an attribute"),
    (AveragedTAN, setting("state", "multinet", to=0), "an invalid multinet flag"),
    (AODE, lambda header, arrays: arrays.update(votes=arrays["votes"] * np.nan), "its votes must be booleans"),
    (AdditiveBN, setting("state", "optimality_gap", to="1e-9"), "its optimality_gap must be a number"),
    (BayesNet, setting("state", "log_score", to=None), "its log_score must be a number"),
    (EvidenceBN, filling("joint_counts", 0, 40.0), "the counts of its tables do not match the counts of single values"),
    (EvidenceBN, filling("coefficients", slice(None), np.nan), "its array 'coefficients' is invalid"),
    (EvidenceBN, filling("weights", slice(None), -1.0), "its weights of evidence must not be negative"),
    (EvidenceBN, filling("digits", 0, 30_000), "its digits of codes are invalid"),
    (EvidenceBN, filling("leaves", 0, 30_000), "its trees of numbers are invalid"),
    (EvidenceBN, setting("state", "evidence_parents", 0, to=[0]), "invalid parents (0,) of node 0"),
    (EvidenceBN, setting("state", "evidence_parents", 0, to=[10**30]), "its parents do not match its schema"),
    (EvidenceBN, setting("state", "evidence_parents", 0, to=5), "its header does not describe a model"),
    (EvidenceBN, setting("state", "settings", to=[[[1], 0.5, 1.0]]), "its header does not describe a model"),
    (EvidenceBN, setting("state", "temperature", to=float("inf")), "its temperature must be a positive finite number"),
    (BoostedTables, as_floats("table_scores", np.nan), "its tables hold invalid scores"),
    (BoostedTables, lambda header, arrays: arrays.update(table_scores=arrays["table_scores"] > 0), "an invalid type"),
    (BoostedTables, filling("question_attributes", slice(None), 99), "its questions name attributes that do not exist"),
    (BoostedTables, filling("question_last", slice(None), 99), "its questions name codes that do not exist"),
    (BoostedTables, setting("state", "tables_per_fold", to=[1, 10**9]), "the shape of its tables does not match"),
    (BoostedTables, setting("state", "tables_per_fold", to=7), "its numbers of tables are invalid"),
    (EnsembleBN, filling("pool_weights", slice(None), -1.0), "the weights of its members are invalid"),
    (EnsembleBN, as_floats("mixture.entries", np.inf), "the tables of its networks are invalid"),
    (EnsembleBN, filling("mixture.digits", slice(None), -5), "the digits of its networks are invalid"),
    (EnsembleBN, filling("mixture.base_scores", slice(None), np.nan), "the scores of its networks are invalid"),
    (
        EnsembleBN,
        setting("state", "mixture", "member_parents", 0, 0, to=[99]),
        "the parents in its networks are invalid",
    ),
    (EnsembleBN, setting("state", "mixture", "member_parents", to=5), "its header does not describe a model"),
    (EnsembleBN, filling("tables.question_first", slice(None), -1), "its questions name codes that do not exist"),
    (NaiveBayes, setting("classes_listed", to="yes"), "'classes_listed' must be true or false"),
    # In Python's words: 'int' object has no attribute 'items'.
    (NaiveBayes, setting("params", to=5), "its header does not describe a model"),
]


@pytest.mark.parametrize(("classifier", "change", "sentence"), TAMPERED)
def test_a_file_that_was_tampered_with_and_signed_is_refused_in_one_sentence(classifier, change, sentence, tmp_path):
    path = rewritten(classifier().fit(*table()), tmp_path / "m", change)
    with pytest.raises(ModelFileError, match="is damaged") as caught:
        tanbark.load(path)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def of_large(model, path, change):
    """Write a large model with its header and its stored arrays changed by a stranger."""
    written = to_bytes(model)
    header = json.loads(json.loads(written[8 : 8 + int.from_bytes(written[:8], "little")])["__metadata__"]["tanbark"])
    arrays = {name: array.copy() for name, array in load(written).items()}
    change(header, arrays)
    header = json.loads(json.dumps(header))
    header["sha256"] = _digest({k: v for k, v in header.items() if k != "sha256"}, arrays)
    save_file(arrays, path, {"tanbark": json.dumps(header)})
    return path


@pytest.fixture(scope="module")
def large_model():
    """A model whose counts are sparse and whose arrays are compressed."""
    model = TAN().fit(*many_levels())
    packed = json.loads(to_bytes(model)[8 : 8 + int.from_bytes(to_bytes(model)[:8], "little")])
    header = json.loads(packed["__metadata__"]["tanbark"])
    assert {"table_gaps", "table_values"} < header["compressed"].keys()
    return model


PLACES = "the places of its counts are invalid"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (filling("table_gaps", 0, 0), PLACES),
        (filling("table_gaps", 5, 0), PLACES),
        (filling("table_gaps", slice(None), 65_535), PLACES),
        (filling("table_gaps", slice(0, 2), 60_000), PLACES),
        (lambda header, arrays: arrays.update(table_gaps=arrays["table_gaps"][:-1]), PLACES),
        (lambda header, arrays: arrays.update(table_gaps=arrays["table_gaps"].astype(np.int64)), PLACES),
        (lambda header, arrays: arrays.update(table_gaps=arrays["table_gaps"] * np.uint64(1 << 40)), PLACES),
        (lambda header, arrays: arrays.update(table_gaps=arrays["table_gaps"].reshape(1, -1)), PLACES),
        (lambda header, arrays: arrays.pop("table_values"), "it lacks 'table_values'"),
        (filling("table_values", slice(None), 255), "a value was seen more often than its class"),
        (filling("table_values", 1, 200), "seen"),
        (lambda header, arrays: arrays.update(table_values=arrays["table_values"] * 1.0), "have different types"),
        (lambda header, arrays: arrays.update(table_values=arrays["table_values"] | np.uint64(1 << 63)), "is negative"),
        (setting("schema", "columns", 0, "levels", to=["one"]), PLACES),
    ],
)
def test_sparse_counts_that_were_tampered_with_are_refused(change, sentence, large_model, tmp_path):
    with pytest.raises(ModelFileError, match="is damaged") as caught:
        tanbark.load(rewritten(large_model, tmp_path / "m", change))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (setting("compressed", to=5), "its header does not describe a model"),
        (setting("compressed", "table_gaps", to=5), "its header does not describe a model"),
        (setting("compressed", "nothing", to=["<i8", [1]]), "it lacks 'nothing'"),
        (setting("compressed", "class_counts", to=["<i8", [3]]), "'class_counts' does not consist of bytes"),
        (setting("compressed", "table_gaps", 0, to="<U100000000"), "the type or the shape of its array 'table_gaps'"),
        (setting("compressed", "table_gaps", 0, to="|O"), "the type or the shape of its array 'table_gaps'"),
        (setting("compressed", "table_gaps", 0, to=None), "the type or the shape of its array 'table_gaps'"),
        (setting("compressed", "table_gaps", 1, to=[-1, -1]), "the type or the shape of its array 'table_gaps'"),
        (setting("compressed", "table_gaps", 1, to=[True]), "the type or the shape of its array 'table_gaps'"),
        (setting("compressed", "table_gaps", 1, to=[2**31, 2**31]), "the type or the shape of its array 'table_gaps'"),
        (setting("compressed", "table_gaps", 1, to=[3]), "its array 'table_gaps' cannot be decompressed"),
        (setting("compressed", "table_gaps", 1, to=[10**6]), "its array 'table_gaps' cannot be decompressed"),
        (filling("table_gaps", slice(None), 7), "its array 'table_gaps' cannot be decompressed"),
        (lambda header, arrays: arrays.update(table_gaps=arrays["table_gaps"][:-1]), "cannot be decompressed"),
    ],
)
def test_compressed_arrays_that_were_tampered_with_are_refused(change, sentence, large_model, tmp_path):
    with pytest.raises(ModelFileError, match="is damaged") as caught:
        tanbark.load(of_large(large_model, tmp_path / "m", change))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["table_gaps", "log_table_0"])
def test_a_file_that_asks_for_more_memory_than_there_is_allocates_none(name, large_model, tmp_path):
    path = of_large(large_model, tmp_path / "m", setting("compressed", name, 1, to=[2**50]))
    with pytest.raises(ModelFileError, match=r"m cannot be loaded: decompressing its arrays needs [\d,.]+ GiB, but"):
        tanbark.load(path)


def test_counts_that_need_more_memory_than_there_is_are_not_called_damaged(large_model, tmp_path, monkeypatch):
    tanbark.save(large_model, tmp_path / "m")
    monkeypatch.setattr("tanbark.memory.UNCHECKED_BYTES", 0)
    monkeypatch.setattr("tanbark.memory.usable_memory", lambda: 10_000_000.0)
    with pytest.raises(
        ModelFileError, match=r"cannot be loaded: its table of .* counts needs .*; free memory, or load"
    ):
        tanbark.load(tmp_path / "m")


def streamed():
    """Return a stream with a window, of which one chunk has weights."""
    X, y = table()
    stream = Stream(NaiveBayes(), window=50).partial_fit(X[:40], y[:40], classes=[0, 1, 2])
    return stream.partial_fit(X[40:], y[40:], sample_weight=np.ones(40))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (setting("stream", to=5), "its header does not describe a model"),
        (setting("stream", "model", to="nothing"), "it lacks 'nothing'"),
        (setting("stream", "model", to="kdb"), "its header does not describe a model"),
        (setting("stream", "window", to=0), "window must be"),
        (setting("stream", "half_life", to=3.0), "give window or half_life, not both"),
        (setting("stream", "state", "rows", to=-1), "the number of rows of its stream must be a whole number, got -1"),
        (setting("stream", "state", "rows", to=True), "the number of rows of its stream must be a whole number"),
        (setting("stream", "state", "drift", to="x"), "the drift of its stream must be a number, got 'x'"),
        (
            setting("stream", "state", "losses", to=[1.0, 1.0, float("inf"), 1.0]),
            "the losses of its stream are invalid",
        ),
        (setting("stream", "state", "losses", to=[0, 1, 1, 1]), "the losses of its stream are invalid"),
        (setting("stream", "state", "losses", to=[1.0]), "not enough values"),
        (
            setting("stream", "state", "chunks", to=[[3, False]]),
            "the numbers of rows in the window of its stream differ",
        ),
        (setting("stream", "state", "chunks", 0, 1, to=1), "the chunks of its stream are invalid"),
        (setting("stream", "state", "chunks", 0, 0, to=-1), "the chunks of its stream are invalid"),
        (filling("stream_losses", 0, np.nan), "the losses of its stream are invalid"),
        (filling("stream_loss_weights", 0, -1.0), "the losses of its stream are invalid"),
        (lambda header, arrays: arrays.update(stream_codes=arrays["stream_codes"] * 1.0), "codes"),
        (lambda header, arrays: arrays.update(stream_codes=arrays["stream_codes"][1:]), "codes"),
        (filling("stream_classes", 0, 3), "the classes in the window of its stream are invalid"),
        (filling("stream_weights", 0, np.inf), "the weights in the window of its stream are invalid"),
    ],
)
def test_a_stream_that_was_tampered_with_is_refused(change, sentence, tmp_path):
    with pytest.raises(ModelFileError, match="is damaged") as caught:
        tanbark.load(rewritten(streamed(), tmp_path / "m", change))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("kind", "size"), [("BF16", 2), ("F8_E4M3", 1), ("F8_E5M2", 1), ("C64", 8), ("F16", 2)])
def test_arrays_of_types_that_are_never_written_are_refused(kind, size, tmp_path):
    written = to_bytes(NaiveBayes().fit(*table()))
    length = int.from_bytes(written[:8], "little")
    said = json.loads(written[8 : 8 + length])
    start, end = said["table"]["data_offsets"]
    said["table"] |= {"dtype": kind, "shape": [(end - start) // size]}
    header = json.dumps(said).encode()
    (tmp_path / "m").write_bytes(len(header).to_bytes(8, "little") + header + written[8 + length :])
    with pytest.raises(ModelFileError, match=r"^[^\n]*(take another copy|give the file that tanbark wrote)[^\n]*$"):
        tanbark.load(tmp_path / "m")


def test_members_of_another_schema_than_the_whole_are_refused(tmp_path):
    """Their tables are for fewer values than the codes of the whole."""
    model = AdditiveBN(weak=[NaiveBayes(), TAN()]).fit(*table())
    X, y = table()
    fewer = AdditiveBN(weak=[NaiveBayes(), TAN()], encoder=Encoder(n_bins=2)).fit(X, y)

    def change(header, arrays):
        theirs = load(to_bytes(fewer))
        header["state"]["members"][0]["schema"] = fewer.schema_.to_dict()
        arrays |= {name: theirs[name] for name in theirs if name.startswith("member_0_")}
        arrays |= {f"member_0_{name}": theirs[name] for name in ("class_counts", "table")}

    with pytest.raises(ModelFileError, match="a member has another schema than the pool"):
        tanbark.load(rewritten(model, tmp_path / "m", change))


def test_what_is_said_of_a_file_is_one_short_line_whatever_the_file_says(saved, tmp_path):
    model, path = saved
    with_header(path, tmp_path / "new", lambda header: header.update(format=FORMAT + 1, version="9.9\n" + "x" * 1000))
    with pytest.raises(ModelFileError, match=rf"tanbark 9\.9 x{{36}} in format {FORMAT + 1}, but"):
        tanbark.load(tmp_path / "new")
    long = rewritten(model, tmp_path / "long", setting("model", to="x" * 10**6))
    with pytest.raises(ModelFileError, match="it lacks 'xxx") as caught:
        tanbark.load(long)
    assert len(str(caught.value)) < 1000 + len(str(long))
    for form in (0, -1):
        with_header(path, tmp_path / "old", lambda header, form=form: header.update(format=form))
        with pytest.raises(ModelFileError, match="its header names no format"):
            tanbark.load(tmp_path / "old")


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header["schema"]["classes"].__setitem__(0, "\ud800"),
        lambda header: header["schema"]["columns"][0].update(name="a\udfffb"),
        lambda header: header["schema"].update(class_name="\udc00"),
        lambda header: header.update(chunks=["\ud83d"]),
        lambda header: header.update({"\ud83d": 1}),
    ],
)
def test_half_of_a_surrogate_pair_is_refused(change, tmp_path):
    model = NaiveBayes().fit(np.array([["p"], ["q"]], object), ["no", "yes"])
    rewritten(model, tmp_path / "m", lambda header, _: change(header))
    with pytest.raises(ModelFileError, match=r"m is damaged \(a name or label is not valid Unicode: '.*\\ud") as caught:
        tanbark.load(tmp_path / "m")
    assert str(caught.value).count("\n") == 0
    assert str(caught.value).isascii()


def test_a_prior_without_a_ratio_to_the_learned_one_is_not_taken(tmp_path):
    """It would not be saved again, so that the copy of a model would answer otherwise."""
    model = TAN().fit(*table())

    def change(header, arrays):
        arrays |= {"prior_ratio": np.zeros(3), "log_prior": np.log([0.8, 0.1, 0.1])}

    loaded = tanbark.load(rewritten(model, tmp_path / "m", change))
    assert np.array_equal(loaded.class_log_prior_, model.class_log_prior_)


def test_another_prior_is_saved_whatever_the_classifier(tmp_path):
    """A file may give a super-parent's network a class that has a parent, where a prior is no table of the network."""
    model = SuperParent().fit(*table())

    def change(header, arrays):
        header["parents"] = [[], [], [], [], [3]]
        for node, values in enumerate(model.schema_.arity):
            arrays[f"log_table_{node}"] = np.full(values, -np.log(values))
        arrays["log_table_4"] = np.log(np.tile([0.2, 0.3, 0.5], (model.schema_.arity[3], 1)))
        arrays |= {"prior_ratio": np.array([1.0, 0.0, -1.0]), "log_prior": np.log([0.5, 0.3, 0.2])}

    loaded = tanbark.load(rewritten(model, tmp_path / "m", change))
    tanbark.save(loaded, tmp_path / "again")
    X, _ = table()
    assert np.array_equal(tanbark.load(tmp_path / "again").predict_proba(X), loaded.predict_proba(X))
