"""A network that is written and read again is the same, bit for bit."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tanbark
from tanbark import TAN, AveragedTAN, BayesNet, Category, Network, Number, Schema, export
from tanbark.datasets import lenses
from tanbark.network import SparseTable, Structure

FORMATS = {"bif": (export.bif, export.read_bif), "xmlbif": (export.xmlbif, export.read_xmlbif)}
both = pytest.mark.parametrize("form", FORMATS)

labels = (
    st.lists(st.text(max_size=4), min_size=1, max_size=4, unique=True)
    | st.lists(st.integers(), min_size=1, max_size=4, unique=True)
    | st.lists(st.floats(allow_nan=False), min_size=1, max_size=4, unique=True)
    | st.just([False, True])
    | st.just([1, "1", "True", 2.5])
)
finite = st.floats(-1e300, 1e300)


@st.composite
def schemas(draw):
    names = draw(st.lists(st.text(max_size=5), min_size=2, max_size=4, unique=True))
    columns = []
    for name in names[1:]:
        if draw(st.booleans()):
            cuts = sorted(draw(st.sets(finite, max_size=4)))
            columns.append(Number(name, tuple(cuts), draw(finite), draw(finite), draw(st.booleans())))
        else:
            levels = draw(labels | st.just([]))
            columns.append(Category(name, tuple(levels), draw(st.booleans()), draw(st.booleans())))
    settings = draw(st.sampled_from(["marginalize", "error"])), draw(st.booleans())
    return Schema(columns, tuple(draw(labels)), names[0], *settings)


@st.composite
def networks(draw):
    schema = draw(schemas())
    arity = [*schema.arity.tolist(), len(schema.classes)]
    order = draw(st.permutations(range(len(arity))))
    parents = [()] * len(arity)
    for at, node in enumerate(order):
        above = draw(st.lists(st.sampled_from(order[:at]), max_size=2, unique=True)) if at else ()
        parents[node] = tuple(above)
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    zeros = draw(st.booleans())
    tables = []
    for node, above in enumerate(parents):
        table = rng.dirichlet(np.full(arity[node], 0.3), tuple(arity[p] for p in above))
        if zeros:
            table = (table == table.max(axis=-1, keepdims=True)).astype(float)
        with np.errstate(divide="ignore"):
            tables.append(np.log(table))
    return Network(schema, Structure(tuple(parents)), tuple(tables))


def same(one, other):
    """Return whether two networks are the same except for rounding in the logarithms."""
    types = [[type(label) for label in (*getattr(c, "levels", ()),)] for n in (one, other) for c in n.schema.columns]
    half = len(types) // 2
    return (
        one.schema == other.schema
        and types[:half] == types[half:]
        and [*map(type, one.schema.classes)] == [*map(type, other.schema.classes)]
        and one.structure == other.structure
        and all(np.array_equal(one.table(name), other.table(name)) for name in one.names)
    )


@both
@settings(max_examples=60)
@given(network=networks())
def test_any_network_survives_a_round_trip(form, network):
    write, read = FORMATS[form]
    text = write(network)
    again = read(io.StringIO(text))
    assert same(network, again)
    assert write(again) == text


@both
def test_networks_of_every_kind_survive_and_predict_the_same(form, networks, tmp_path):
    write, read = FORMATS[form]
    for name, network in networks.items():
        path = tmp_path / "network"
        text = write(network, path)
        assert path.read_text() == text
        again = read(path)
        assert same(network, again), name
        rng = np.random.default_rng(0)
        codes, _ = network.sample_codes(50, rng)
        codes = codes.astype(network.schema.dtype)
        codes[rng.random(codes.shape) < 0.3] = network.schema.missing_code
        np.testing.assert_allclose(again.log_joint(codes), network.log_joint(codes), rtol=0, atol=1e-13)


@both
def test_the_type_of_the_classes_survives(form):
    write, read = FORMATS[form]
    X = np.array([["a"], ["b"], ["a"]], object)
    for y in (np.array([3, 4, 3], np.int16), np.array(["p", "q", "p"]), np.array([True, False, True])):
        network = TAN().fit(X, y).network_
        again = read(io.StringIO(write(network)))
        assert again.schema.class_labels.dtype == network.schema.class_labels.dtype
        assert again.sample(3)[1].dtype == y.dtype


@both
def test_a_sparse_table_is_written_as_a_dense_one(form):
    schema = Schema([Category(name, ("p", "q", "r")) for name in "abc"], (0, 1))
    rows, default = np.log([[[0.9, 0.05, 0.05]], [[0.2, 0.2, 0.6]]]), np.log([[0.25, 0.25, 0.5]])
    sparse = SparseTable((3, 3, 3), None, np.array([1, 5]), rows, default)
    uniform = np.full(3, -np.log(3))
    network = Network(schema, Structure(((), (), (0, 1), ())), (uniform, uniform, sparse, np.log([0.5, 0.5])))
    write, read = FORMATS[form]
    expected = np.tile([0.25, 0.25, 0.5], (9, 1))
    expected[1], expected[5] = [0.9, 0.05, 0.05], [0.2, 0.2, 0.6]
    np.testing.assert_allclose(read(io.StringIO(write(network))).table("c").reshape(9, 3), expected, rtol=1e-15)


@both
def test_a_network_with_too_many_probabilities_is_refused_before_it_is_written(form, tmp_path):
    wide = Schema([Category(f"a{u}", tuple(range(250))) for u in range(4)], (0, 1))
    none = np.empty((0, 1, 250)), np.full((1, 250), -np.log(250))
    sparse = SparseTable((250,) * 4, None, np.empty(0, np.int64), *none)
    uniform = np.full(250, -np.log(250))
    tables = (uniform, uniform, uniform, sparse, np.log([0.5, 0.5]))
    network = Network(wide, Structure(((), (), (), (0, 1, 2), ())), tables)
    with pytest.raises(ValueError, match="3,906,250,752 probabilities, but a file can hold at most 4,194,304"):
        FORMATS[form][0](network, tmp_path / "x")
    assert not (tmp_path / "x").exists()


@both
def test_a_model_of_several_networks_is_refused_with_advice(form):
    write = FORMATS[form][0]
    X, y = lenses()
    for model in (AveragedTAN(), AveragedTAN(multinet=True)):
        with pytest.raises(ValueError, match=rf"only a single network; .* tanbark.export.{form}\(model.map_tree_"):
            write(model.fit(X, y))
    assert write(AveragedTAN().fit(X, y).map_tree_)
    with pytest.raises(ValueError, match="AODE is not a single network"):
        write(tanbark.AODE().fit(X, y))
    with pytest.raises(ValueError, match=r"BoostedBN combines several networks"):
        write(tanbark.BoostedBN(n_estimators=2).fit(X, y))
    with pytest.raises(TypeError, match="cannot export 'int' to"):
        write(3)


@both
def test_a_class_prior_that_no_table_can_express_is_refused(form):
    X, y = lenses()
    model = BayesNet(class_prior=[0.2, 0.3, 0.5], required=[("x3", "class")]).fit(X, y)
    with pytest.raises(ValueError, match="cannot express class_prior"):
        FORMATS[form][0](model)
    assert FORMATS[form][0](model.network_)
