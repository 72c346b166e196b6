from pathlib import Path

import check_threads
import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("  std::thread worker([] {});", True),
        ("  std::jthread worker(work);", True),
        ("  std::vector<std::thread> threads_;", True),
        ("  auto later = std::async(std::launch::async, work);", True),
        ("  pthread_create(&thread, nullptr, work, nullptr);", True),
        ("  boost::asio::thread_pool pool(4);", True),
        ("  core::Thread worker;", False),
        ("  std::thread::hardware_concurrency();", False),
        ("  std::this_thread::yield();", False),
        ("  // like std::thread", False),
    ],
)
def test_each_way_to_start_a_thread_is_found(tmp_path, line, is_found):
    folder = tmp_path / "server"
    folder.mkdir()
    (folder / "a.cc").write_text(f"\n{line}\n")
    found = check_threads.violations(tmp_path)
    assert [each.split(": ")[0] for each in found] == ["server/a.cc:2"] * is_found


def test_tests_and_the_one_place_may(tmp_path):
    for name in ("tests/a.cc", "bench/a.cc", "engine/core/thread.h"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("std::thread worker;\n")
    assert check_threads.violations(tmp_path) == []


def test_every_exception_is_still_there():
    assert all((ROOT / name).exists() for name in check_threads.ALLOWED)
