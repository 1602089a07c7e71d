"""The page in a real browser: what it shows, what it changes, and whether everybody can use it.

Chromium is not installed with the project; where there is none, these tests are skipped and say so.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from framework.runtime.run import Run
from framework.web.address import Address, url_of
from framework.web.serving import serve
from tests.framework.web.conftest import COUNT, SHARED, going_on, until

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow(daily=True),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
WIDE, NARROW = (1440, 900), (390, 844)


@pytest.fixture(scope="module")
def browser() -> Iterator[sync_api.Browser]:
    with sync_api.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield found
        found.close()


@contextmanager
def served(control: Path) -> Iterator[str]:
    """The address of the view of a run; it ends with the run."""
    listening = Address(port=0).listen()
    thread = threading.Thread(target=serve, args=(control, listening, None), daemon=True)
    thread.start()
    yield url_of(listening, None)


@contextmanager
def opened(
    browser: sync_api.Browser, url: str, size: tuple[int, int] = WIDE, scheme: str = "light"
) -> Iterator[sync_api.Page]:
    """The page when it shows rates; whatever the browser complains about fails the test."""
    viewport = {"width": size[0], "height": size[1]}
    context = browser.new_context(viewport=viewport, color_scheme=scheme)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(url)
    page.locator("#curves path.chosen").first.wait_for(state="attached")
    yield page
    context.close()
    assert complaints == []


@pytest.fixture
def url(run: Run, tmp_path: Path) -> Iterator[str]:
    with served(tmp_path / "control") as found:
        yield found


def cell(page: sync_api.Page, component: str, column: str) -> str:
    """Read a cell of the table of components."""
    heads = page.locator("#components th").all_inner_texts()
    row = page.locator(f'#components tr[data-key="{component}"]')
    return row.locator("td").nth(heads.index(column)).inner_text()


def test_the_table_has_what_was_counted(browser: sync_api.Browser, url: str) -> None:
    with opened(browser, url) as page:
        assert page.title() == "tested \N{EN DASH} ViperStorm"
        assert page.locator("#state").inner_text() == "running"
        assert cell(page, "orders", "total") == str(COUNT)
        assert cell(page, "picky", "errors") == str(COUNT // 10)
        assert cell(page, "sink", "total") == str(COUNT - COUNT // 10)
        (line,) = page.locator("#errors tbody tr").all()
        assert "ValueError: a tenth" in line.inner_text() and "conftest.py:" in line.inner_text()


@pytest.mark.parametrize("sharing", ["claims", "dealt"])
def test_claims_have_columns_where_there_are_any(
    browser: sync_api.Browser, tmp_path: Path, sharing: str
) -> None:
    control = tmp_path / "control"
    config = {**SHARED, "viper.sharing": sharing}
    with going_on(control, config), served(control) as url, opened(browser, url) as page:
        page.locator("#components").get_by_role("button", name="picky").click()
        heads = page.locator("#components th, #tasktable th").all_inner_texts()
        about = page.locator("#about").inner_text()
        claims = page.locator("#tasktable td:nth-child(6)").all_inner_texts()
    assert heads.count("per claim") == 2 * (sharing == "claims")
    assert ("share their input by claims" in about) == (sharing == "claims")
    assert (sum(map(int, claims)) >= 1) == (sharing == "claims")


def test_the_picture_has_every_component_and_stream(browser: sync_api.Browser, url: str) -> None:
    with opened(browser, url) as page:
        names = [node.get_attribute("aria-label") for node in page.locator("#picture .node").all()]
        assert [name and name.split(":")[0] for name in names] == ["orders", "picky", "sink"]
        assert page.locator("#picture path.edge").count() == 2
        page.select_option("#measure", "pressure")
        assert "blocked" in (page.locator("#picture .node").first.text_content() or "")


def test_components_are_chosen_in_the_picture_by_mouse_and_keyboard(
    browser: sync_api.Browser, url: str
) -> None:
    with opened(browser, url) as page:
        page.locator("#picture .node").nth(2).click()
        assert page.locator("#h-detail").inner_text() == "sink"
        page.locator("#picture .node").nth(1).press("Enter")
        assert page.locator("#h-detail").inner_text() == "picky"
        assert page.locator("tr.chosen").first.get_attribute("data-key") == "picky"


def test_tasks_are_changed_and_what_cannot_be_is_refused(
    browser: sync_api.Browser, url: str, run: Run
) -> None:
    with opened(browser, url) as page:
        page.locator("#components").get_by_role("button", name="picky").click()
        page.fill("#tasks", "4")
        page.get_by_role("button", name="Change").click()
        page.get_by_text("picky goes on with 4 tasks.").wait_for()
        assert run.look().components[1].parallelism == 4
        page.locator("#components").get_by_role("button", name="sink").click()
        assert page.locator("#tasks").is_disabled()


def test_spouts_pause_and_go_on(browser: sync_api.Browser, url: str) -> None:
    with opened(browser, url) as page:
        page.get_by_role("button", name="Pause spouts").click()
        page.locator("#state", has_text="paused").wait_for()
        page.get_by_role("button", name="Resume spouts").click()
        page.locator("#state", has_text="running").wait_for()


def test_a_stop_is_asked_about_and_the_last_view_stays(browser: sync_api.Browser, tmp_path: Path) -> None:
    control = tmp_path / "control"
    with going_on(control) as run, served(control) as url, browser.new_context() as context:
        page = context.new_page()
        page.goto(url)
        page.locator("#components tbody tr").first.wait_for()
        page.get_by_role("button", name="Stop").click()
        page.get_by_role("button", name="Cancel").click()
        assert not run.look().draining
        page.get_by_role("button", name="Stop").click()
        page.get_by_role("button", name="Yes").click()
        until(lambda: run.look().draining)
        page.locator("#state", has_text="ended").wait_for()
        assert cell(page, "orders", "total") == str(COUNT)
        assert page.get_by_role("button", name="Stop").is_disabled()


def test_what_is_folded_away_appears(browser: sync_api.Browser, url: str) -> None:
    with opened(browser, url) as page:
        page.locator("details[data-part=channels] summary").click()
        page.locator("#channels tbody tr").first.wait_for()
        assert page.locator("#channels tbody tr").count() >= 3
        page.locator("details[data-part=configuration] summary").click()
        page.uncheck("#onlyset")
        page.fill("#filter", "viper.jumbo.size")
        (line,) = page.locator("#configuration tbody tr").all()
        assert "defaults.yaml" in line.inner_text()


def test_a_row_that_was_chosen_keeps_the_focus_when_the_table_changes(
    browser: sync_api.Browser, url: str
) -> None:
    with opened(browser, url) as page:
        button = page.locator("#components").get_by_role("button", name="picky")
        button.focus()
        elapsed = page.locator("#facts dd").first.inner_text()
        page.wait_for_function("was => document.querySelector('#facts dd').textContent !== was", arg=elapsed)
        assert page.evaluate("document.activeElement.textContent") == "picky"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_nothing_keeps_anybody_from_using_it(
    browser: sync_api.Browser, url: str, size: tuple[int, int], scheme: str
) -> None:
    with opened(browser, url, size, scheme) as page:
        for summary in page.locator("details summary").all():
            summary.click()
        page.locator("#channels tbody tr").first.wait_for()
        found = axe.Axe().run(page).response["violations"]
        assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
