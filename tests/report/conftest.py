"""A real browser, without a window."""

import shutil

import pytest


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        pytest.skip("needs Debian's chromium and chromium-driver")
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = shutil.which("chromium")
    profile = tmp_path_factory.mktemp("profile")
    for argument in (
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "disable-dev-shm-usage",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        "window-size=1280,900",
        f"user-data-dir={profile}",
    ):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_page_load_timeout(60)
    driver.set_script_timeout(60)
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser, tmp_path):
    """Open the report of a model in the browser; the browser must log no error until the end of the test."""
    from tanbark import write_report

    def show(model, data=None):
        path = tmp_path / "report.html"
        write_report(model, path, data)
        browser.get(path.as_uri())
        return browser

    yield show
    assert browser.get_log("browser") == []
