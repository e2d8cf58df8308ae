"""fetch_openml against a local stand-in for the OpenML server."""

import io
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tanbark.datasets import UnknownDatasetError, fetch_openml

LIST = "/api/v1/json/data/list/data_name/"
WEATHER = pa.table(
    {
        "day": ["mon", "tue", "wed"],
        "sky": pa.DictionaryArray.from_arrays(pa.array([1, 0, None], pa.int8()), ["blue", "grey", "black"]),
        "degrees": [12.5, 21.0, None],
        "play": pa.DictionaryArray.from_arrays(pa.array([0, 1, 1], pa.int8()), ["no", "yes"]),
    }
)


def parquet_bytes(table):
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


class StandIn:
    """A server with a response for each path: bytes, a value to send as JSON, or an error code."""

    def __init__(self):
        stand_in = self
        self.answers, self.asked = {}, []

        class Handler(BaseHTTPRequestHandler):
            timeout = 10

            def do_GET(self):
                stand_in.asked.append(self.path)
                answer = stand_in.answers.get(self.path, 412)
                status = answer if isinstance(answer, int) else 200
                content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def add(self, name, version, number, table, *, status="active", **description):
        listed = {"did": number, "name": name, "version": version, "status": status}
        if status == "active":
            active = self.answers.setdefault(f"{LIST}{name}/status/active", {"data": {"dataset": []}})
            active["data"]["dataset"].append(listed)
        suffix = "" if status == "active" else f"/status/{status}"
        self.answers[f"{LIST}{name}/data_version/{version}{suffix}"] = {"data": {"dataset": [listed]}}
        self.answers[f"/api/v1/json/data/{number}"] = {
            "data_set_description": {
                "id": str(number),
                "name": name,
                "version": str(version),
                "parquet_url": f"{self.url}/{number}.pq",
                **description,
            }
        }
        self.answers[f"/{number}.pq"] = parquet_bytes(table)


@pytest.fixture
def openml(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    stand_in = StandIn()
    thread = threading.Thread(target=stand_in.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield stand_in
    finally:
        stand_in.server.shutdown()
        stand_in.server.server_close()
        thread.join(timeout=10)


@pytest.fixture
def weather(openml):
    openml.add("weather", 1, 7, WEATHER, default_target_attribute="play", row_id_attribute="day")
    return openml


def test_a_dataset_arrives_with_its_types_levels_and_missing_values(weather):
    dataset = fetch_openml("weather", url=weather.url)
    assert dataset.name == "weather"
    assert dataset.target == "play"
    assert dataset.table.to_pydict() == WEATHER.select(["sky", "degrees"]).to_pydict()
    assert dataset.table["degrees"].type == pa.float64()
    assert dataset.table["sky"].chunk(0).dictionary.to_pylist() == ["blue", "grey", "black"]
    assert dataset.X.tolist() == [["grey", 12.5], ["blue", 21.0], [None, None]]
    assert dataset.y.tolist() == ["no", "yes", "yes"]
    assert dataset.source.startswith(f"weather version 1, {weather.url}/d/7; Vanschoren et al. (2013)")


def test_upper_case_and_a_slash_after_the_address_do_not_matter(weather):
    assert fetch_openml("Weather", url=weather.url + "/").name == "weather"


def test_another_target_may_be_chosen(weather):
    dataset = fetch_openml("weather", target="sky", url=weather.url)
    assert dataset.feature_names == ("degrees", "play")
    assert dataset.y.tolist() == ["grey", "blue", None]


@pytest.mark.parametrize("ignored", ["day, degrees", ["day", "degrees"]])
def test_columns_to_ignore_are_left_out(openml, ignored):
    openml.add("weather", 1, 7, WEATHER, default_target_attribute="play", ignore_attribute=ignored)
    assert fetch_openml("weather", url=openml.url).feature_names == ("sky",)


def test_a_version_is_taken_by_its_number_even_if_it_is_no_longer_active(weather):
    old = WEATHER.slice(0, 2)
    weather.add("weather", 2, 8, old, status="deactivated", default_target_attribute="play")
    assert fetch_openml("weather", 2, url=weather.url).table.num_rows == 2
    assert fetch_openml("weather", 1, url=weather.url).table.num_rows == 3


def test_the_oldest_of_several_active_versions_is_taken_with_a_warning(openml):
    openml.add("weather", 3, 9, WEATHER.slice(0, 1), default_target_attribute="play")
    openml.add("weather", 1, 7, WEATHER, default_target_attribute="play")
    with pytest.warns(UserWarning, match="several active versions of 'weather': using 1, not 3") as caught:
        assert fetch_openml("weather", url=openml.url).table.num_rows == 3
    assert caught[0].filename == __file__


def test_a_cached_dataset_needs_no_network(weather, tmp_path):
    first = fetch_openml("weather", cache=tmp_path, url=weather.url)
    asked = len(weather.asked)
    second = fetch_openml("weather", cache=tmp_path, url=weather.url)
    assert len(weather.asked) == asked
    assert second == first
    assert second.table["sky"].chunk(0).dictionary.to_pylist() == ["blue", "grey", "black"]
    assert fetch_openml("weather", target="sky", cache=tmp_path, url=weather.url).target == "sky"


def test_a_failed_download_leaves_nothing_in_the_cache(weather, tmp_path):
    weather.answers["/7.pq"] = b"<html>please log in</html>"
    with pytest.raises(ValueError, match=r"7\.pq is not a Parquet file"):
        fetch_openml("weather", cache=tmp_path, url=weather.url)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_damaged_cache_is_an_error_that_says_what_to_do(weather, tmp_path):
    fetch_openml("weather", cache=tmp_path, url=weather.url)
    (file,) = tmp_path.rglob("*.arrow")
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(ValueError, match="is damaged: delete it"):
        fetch_openml("weather", cache=tmp_path, url=weather.url)


@pytest.mark.parametrize(
    ("version", "message"),
    [("active", "no active dataset named 'nothing'"), (3, "no version 3 of a dataset named 'nothing'")],
)
def test_an_unknown_name_is_an_error_that_repeats_it(openml, version, message):
    with pytest.raises(UnknownDatasetError, match=message):
        fetch_openml("nothing", version, url=openml.url)


def test_a_name_is_escaped_in_the_address(openml):
    with pytest.raises(UnknownDatasetError):
        fetch_openml("../../x y", url=openml.url)
    assert openml.asked == [f"{LIST}..%2F..%2Fx%20y/status/active"]


@pytest.mark.parametrize("target", ["", None, "play,sky", "colour"])
def test_a_dataset_without_a_default_target_asks_for_one(openml, target):
    openml.add("weather", 1, 7, WEATHER, default_target_attribute=target)
    with pytest.raises(ValueError, match="target must be one of day, sky, degrees, play"):
        fetch_openml("weather", url=openml.url)


def test_an_unreachable_server_is_a_connection_error():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(ConnectionError, match=f"cannot get {url}/api/.*refused"):
            fetch_openml("weather", url=url)


def test_a_server_error_is_a_connection_error(weather):
    weather.answers[f"{LIST}weather/status/active"] = 500
    with pytest.raises(ConnectionError, match="the server responded 500"):
        fetch_openml("weather", url=weather.url)


@pytest.mark.parametrize("answer", [b"<html>", b"\xff", [], {}, {"data": []}, {"data": {"dataset": [{"did": "x"}]}}])
def test_an_invalid_listing_is_an_error(weather, answer):
    weather.answers[f"{LIST}weather/status/active"] = answer
    with pytest.raises(ValueError, match="is not a valid OpenML response"):
        fetch_openml("weather", url=weather.url)


@pytest.mark.parametrize("answer", [412, b"", {"data_set_description": []}, {"data_set_description": {"id": 1}}])
def test_an_invalid_description_is_an_error(weather, answer):
    weather.answers["/api/v1/json/data/7"] = answer
    with pytest.raises(ValueError, match="is not a valid OpenML response"):
        fetch_openml("weather", url=weather.url)


def test_a_dataset_without_a_parquet_file_is_an_error(openml):
    openml.add("weather", 1, 7, WEATHER, parquet_url=None)
    with pytest.raises(ValueError, match="no Parquet file for the dataset 'weather'"):
        fetch_openml("weather", url=openml.url)


def test_a_parquet_file_that_is_gone_is_an_error(weather):
    weather.answers["/7.pq"] = 404
    with pytest.raises(ValueError, match="the Parquet file of the dataset 'weather' is no longer on OpenML"):
        fetch_openml("weather", url=weather.url)


@pytest.mark.parametrize("link", ["file:///etc/hostname", "7.pq"])
def test_only_http_and_https_addresses_are_downloaded(openml, link):
    openml.add("weather", 1, 7, WEATHER, parquet_url=link)
    with pytest.raises(ValueError, match="is not an http or https address"):
        fetch_openml("weather", url=openml.url)


@pytest.mark.parametrize("version", ["newest", 0, True, 1.5])
def test_an_invalid_version_is_refused_before_any_request(openml, version):
    with pytest.raises(ValueError, match="version must be 'active' or a positive integer"):
        fetch_openml("weather", version, url=openml.url)
    assert openml.asked == []
