import pytest

from benchmarks.planner.server_a import server_a


def test_server_a_has_the_sockets_that_are_asked_for() -> None:
    machine = server_a(3)
    assert (machine.cores, [place.cores for place in machine.places]) == (54, [18, 18, 18])


def test_fetches_take_the_same_time_both_ways_and_longer_by_distance() -> None:
    fetch = server_a().fetch_ns
    for one in range(8):
        for other in range(8):
            assert fetch[one][other] == fetch[other][one]
    assert 0.0 == fetch[0][0] < fetch[0][1] == fetch[0][3] < fetch[0][2] < fetch[0][4] < fetch[0][7]


def test_each_socket_sees_as_many_others_at_each_distance() -> None:
    assert len({tuple(sorted(row)) for row in server_a().fetch_ns}) == 1


@pytest.mark.parametrize("sockets", [0, 9])
def test_server_a_has_at_most_eight_sockets(sockets: int) -> None:
    with pytest.raises(ValueError, match=f"not {sockets}"):
        server_a(sockets)
