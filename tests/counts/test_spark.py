"""Counting with Spark, on two executor processes."""

import os
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pytest

from counts.killer import Killer
from tanbark import TAN, Category, Counts, Encoder, Number, Schema
from tanbark.counts import spark as module
from tanbark.schema.survey.column_survey import MAX_DISTINCT_NUMBERS

pyspark = pytest.importorskip("pyspark")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java, which is not installed", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")

SCHEMA = Schema(
    [Category("a", ("p", "q")), Number("b.c", (0.5,)), Category("d`", (1, 2, 3))], ("no", "yes", "never"), "y"
)

SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

LOGGING = """
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {path}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %p %c: %m%n%ex
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Yield a session with two executors, and the log file of Spark."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    # Executors write to a folder in SPARK_HOME, so it must be writable.
    home = folder / "home"
    home.mkdir()
    for entry in Path(pyspark.__file__).parent.iterdir():
        (home / entry.name).symlink_to(entry)
    log = folder / "spark.log"
    logging = folder / "log4j2.properties"
    logging.write_text(LOGGING.format(path=log))
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.driver.extraJavaOptions": f"{SHORT_LIVED} -Dlog4j2.configurationFile=file:{logging}",
        "spark.executor.extraJavaOptions": SHORT_LIVED,
        "spark.sql.codegen.wholeStage": "false",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "2",
        "spark.task.maxFailures": "2",
        "spark.shuffle.io.maxRetries": "0",
        "spark.ui.showConsoleProgress": "false",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_HOME", str(home))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("SPARK_LOCAL_DIRS", str(folder))
        builder = SparkSession.builder.master("local-cluster[2,1,768]").appName("tanbark")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        yield session, log
        gateway = session.sparkContext._gateway
        session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=60)
        SparkContext._gateway = SparkContext._jvm = None


@pytest.fixture
def session(cluster):
    return cluster[0]


@pytest.fixture(scope="module")
def table():
    """Return rows with missing values, a level not in the schema, names that Spark must quote, and an unused column."""
    rng = np.random.default_rng(0)
    rows = 3000

    def with_missing(values):
        missing = rng.random(rows) < 0.1
        return [None if absent else v for v, absent in zip(values.tolist(), missing, strict=True)]

    return pa.table(
        {
            "a": with_missing(rng.choice(["p", "q", "r"], rows)),
            "d`": with_missing(rng.integers(0, 4, rows)),
            "extra": rng.random(rows),
            "y": rng.choice(["no", "yes"], rows).tolist(),
            "b.c": with_missing(rng.random(rows)),
        }
    )


def on_one_machine(table, schema=SCHEMA, order=2):
    """Return the counts of the rows in memory."""
    frame = table.to_pandas() if isinstance(table, pa.Table) else table
    return Counts.of(schema, schema.encode(frame[list(schema.names)]), schema.encode_target(frame["y"]), order=order)


def test_text_is_read_as_on_one_machine(session):
    rows = 300
    table = pa.table(
        {
            "id": [f"N{i}" for i in range(rows)],
            "bill": ["n/a" if i % 9 == 4 else f"${1000 + 7 * i:,}" for i in range(rows)],
            "when": [f"{i % 28 + 1}.{i % 12 + 1}.2024" for i in range(rows)],
            "y": [("no", "yes")[i % 5 % 2] for i in range(rows)],
        }
    )
    encoder = Encoder(coerce=True, identifiers="drop")
    with pytest.warns(UserWarning, match="column 'id' looks like an identifier"):
        expected = Counts.from_batches(table, "y", encoder=encoder)
    with pytest.warns(UserWarning, match="column 'id' looks like an identifier"):
        found = module.count(session.createDataFrame(table).repartition(3), "y", encoder=encoder)
    assert [one.kind for one in found.schema.recipe.inputs] == ["ignored", "number", "date"]
    assert found == expected


def test_unreadable_values_are_judged_over_all_partitions(session):
    def rows(words):
        texts = [*(str(i / 4) for i in range(300 - words)), *["n.k."] * words]
        return pa.table({"bill": texts, "y": ["no", "yes"] * 150})

    few, most = (session.createDataFrame(rows(words)).repartitionByRange(6, "bill") for words in (24, 200))
    with pytest.warns(UserWarning, match="24 of 300 values were not") as caught:
        found = module.count(few, "y", encoder=Encoder(coerce=True))
    assert len([one for one in caught if "values" in str(one.message)]) == 1
    with pytest.warns(UserWarning, match="expected numbers, but 24 of 300 values are not"):
        assert module.count(few, "y", schema=found.schema) == found
    with pytest.raises(ValueError, match="expected numbers, but 200 of 300 values are not"):
        module.count(most, "y", schema=found.schema)


@pytest.mark.parametrize(("order", "parts"), [(1, 3), (2, 1), (2, 7)])
def test_counts_equal_those_of_one_machine_for_any_partitions(session, table, order, parts):
    df = session.createDataFrame(table).repartition(parts)
    assert module.count(df, "y", schema=SCHEMA, order=order) == on_one_machine(table, order=order)


def test_empty_partitions_and_no_rows_are_fine(session, table):
    df = session.createDataFrame(table[:3]).repartition(5)
    assert module.count(df, "y", schema=SCHEMA) == on_one_machine(table[:3])
    assert module.count(df.limit(0), "y", schema=SCHEMA) == Counts.zero(SCHEMA)


def test_rows_without_a_class_are_dropped_with_one_warning(session, table):
    unlabelled = table.set_column(3, "y", pa.array([None if i % 3 == 0 else "no" for i in range(table.num_rows)]))
    df = session.createDataFrame(unlabelled).repartition(4)
    with pytest.warns(UserWarning, match="^1,000 rows without a class are dropped$") as caught:
        counts = module.count(df, "y", schema=SCHEMA)
    assert len([w for w in caught if w.category is UserWarning]) == 1
    assert counts == on_one_machine(unlabelled.filter(unlabelled["y"].is_valid()))


def test_the_schema_equals_that_of_one_machine(session, table, monkeypatch):
    monkeypatch.setattr(module, "MERGE_PARTITIONS", 3)
    rng = np.random.default_rng(1)
    rows = 70_000
    assert rows > MAX_DISTINCT_NUMBERS  # the cut points need several passes
    classes = [None if i % 7 == 0 else i % 3 for i in range(rows)]
    table = table.take(rng.integers(0, table.num_rows, rows)).drop_columns("y")
    table = table.append_column("many", [rng.normal(size=rows)]).append_column("y", [classes])
    frame = table.to_pandas().dropna(subset="y").astype({"y": int})
    with pytest.warns(UserWarning, match="^10,000 rows without a class are dropped$") as caught:
        counts = module.count(session.createDataFrame(table).repartition(5), "y", ignore=["extra"])
    assert len([w for w in caught if w.category is UserWarning]) == 1
    assert counts.schema == Encoder().fit(frame.drop(columns=["extra", "y"]), frame["y"]).schema_
    assert counts == on_one_machine(frame, counts.schema)
    fitted = TAN().fit(frame.drop(columns=["extra", "y"]), frame["y"])
    assert TAN().fit_counts(counts).network_.parents == fitted.network_.parents


def test_invalid_columns_and_arguments_raise_before_any_row_is_read(session, table):
    def broken(batches):
        yield from [0 / 0 for _ in batches]

    df = session.range(3).mapInArrow(broken, "a string, b double, y string, day date")
    with pytest.raises(ValueError, match="no column 'nought'"):
        module.count(df, "nought")
    with pytest.raises(ValueError, match="order must be 1"):
        module.count(df, "y", order=3)
    with pytest.raises(ValueError, match=r"lack the column 'b\.c'"):
        module.count(df, "y", schema=SCHEMA)
    with pytest.raises(TypeError, match="column 'day' holds dates"):
        module.count(df, "y", encoder=Encoder(dates="error"))
    with pytest.raises(TypeError, match=r"Spark data frame \(pip install 'tanbark\[spark\]'\), got 'Table'"):
        module.count(table, "y")


def test_unused_columns_may_have_any_type(session):
    df = session.sql("select 'u' as a, 'no' as y, interval 3 months as `how.long`")
    counts = module.count(df, "y", ignore=["how.long"])
    assert counts.value(0).tolist() == [[1]]
    assert module.count(df, "y", schema=counts.schema) == counts
    for ignore, message in ((["y"], "'y' is the class and cannot be ignored"), (["z"], "no column 'z'")):
        with pytest.raises(ValueError, match=message):
            module.count(df, "y", ignore=["how.long", *ignore])


def test_data_that_change_between_passes_raise(session, tmp_path):
    def fewer_each_time(batches):
        for batch in batches:
            again = (tmp_path / "read").exists()
            (tmp_path / "read").touch()
            yield batch[:2] if again else batch

    rows = session.range(3, numPartitions=1).selectExpr("'u' as a", "'no' as y")
    with pytest.raises(ValueError, match="the first pass read 3 rows, but a later pass read 2"):
        module.count(rows.mapInArrow(fewer_each_time, rows.schema), "y")


def test_an_unknown_class_raises_a_plain_error(session, table):
    df = session.createDataFrame(table)
    with pytest.raises(ValueError, match=r"^unknown class 'yes'; the known classes are 'no', 'never'$") as caught:
        module.count(df, "y", schema=Schema(SCHEMA.columns, ("no", "never"), "y"))
    assert caught.value.__suppress_context__


def test_errors_of_the_users_own_code_are_unchanged():
    with pytest.raises(RuntimeError, match="ValueError: of the user's own task"), module._unwrapped_input_errors():
        raise RuntimeError("Traceback ...\nValueError: of the user's own task")


def test_a_killed_executor_does_not_change_the_counts(cluster, table, tmp_path):
    session, log = cluster
    folder = str(tmp_path)

    def slowly(batches):
        import time
        import uuid
        from pathlib import Path

        import psutil

        executor = next(p for p in psutil.Process().parents() if p.name().startswith("java"))
        (Path(folder) / f"{executor.pid}-{uuid.uuid4()}").touch()
        time.sleep(0.5)
        yield from batches

    parts = 8
    df = session.createDataFrame(table).repartition(parts).toDF("a", "d", "extra", "y", "b")
    slow = df.mapInArrow(slowly, df.schema).toDF(*table.column_names)
    killer = Killer(tmp_path, 2, "java")
    killer.start()
    counts = module.count(slow, "y", schema=SCHEMA)
    killer.join()
    assert counts == on_one_machine(table)
    assert len(killer.begun()) > parts
    assert not psutil.pid_exists(killer.killed[0])
    # 137 is the exit code of a process killed by signal 9.
    assert re.search(r"Lost executor \d+ on \S+ Command exited with code 137", log.read_text())
