"""Sweeps on real clusters of this machine: Dask and Ray."""

import os
import signal
import threading
import time

import numpy as np
import pytest
import saltus
from conftest import EXAMPLES

OUTPUTS = ["first(locked)", "heat"]


@pytest.fixture(scope="module")
def clutch():
    return saltus.load(EXAMPLES / "mechanics" / "SlippingClutch.mo")


@pytest.fixture(scope="module")
def design():
    return saltus.design.sobol(64, {"torque": (6, 24), "J2": (1, 6)})


@pytest.fixture(scope="module")
def here(clutch, design):
    return clutch.sweep(design, OUTPUTS)


@pytest.fixture(scope="module")
def dask_client():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        yield client


def same(a, b):
    return all(np.array_equal(a[name], b[name], equal_nan=True) for name in OUTPUTS)


def test_dask(clutch, design, here, dask_client, tmp_path):
    there = clutch.sweep(design, OUTPUTS, engine=dask_client, chunk=4, store=tmp_path / "dask.csv")
    assert same(here, there)
    clutch.sweep(design, OUTPUTS, store=tmp_path / "here.csv")
    assert (tmp_path / "dask.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()


def test_an_executor_of_dask(clutch, design, here, dask_client):
    assert same(here, clutch.sweep(design, OUTPUTS, engine=dask_client.get_executor(), chunk=8))


def test_a_worker_of_dask_is_killed(clutch, dask_client, tmp_path):
    design = saltus.design.sobol(600, {"torque": (6, 24), "J2": (1, 6)})
    workers = list(dask_client.run(os.getpid).values())
    killed = []

    store = tmp_path / "dask.csv"

    def kill():
        # In the middle, however fast the machine is.
        while not store.exists() or store.read_bytes().count(b"\n") < 10:
            time.sleep(0.002)
        os.kill(workers[0], signal.SIGKILL)
        killed.append(time.monotonic())

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    there = clutch.sweep(design, OUTPUTS, engine=dask_client, chunk=4, store=store)
    ended = time.monotonic()
    thread.join()
    assert killed[0] < ended
    clutch.sweep(design, OUTPUTS, store=tmp_path / "here.csv")
    # Every run is there, and once.
    assert there.done.all() and (tmp_path / "dask.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()


def test_a_sweep_inside_a_worker_has_one_thread(clutch, dask_client):
    def threads():
        from saltus._sweep import default_threads

        return default_threads()

    assert dask_client.submit(threads).result() == 1


@pytest.fixture(scope="module")
def ray_cluster():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


def test_ray(clutch, design, here, ray_cluster, tmp_path):
    assert same(here, clutch.sweep(design, OUTPUTS, engine="ray", chunk=4))


def test_a_worker_of_ray_is_killed(clutch, ray_cluster, tmp_path):
    design = saltus.design.sobol(600, {"torque": (6, 24), "J2": (1, 6)})
    here = clutch.sweep(design, OUTPUTS)
    worker = ray_cluster.get(ray_cluster.remote(lambda: os.getpid()).remote())
    killed = []

    def kill():
        time.sleep(0.1)
        os.kill(worker, signal.SIGKILL)
        killed.append(time.monotonic())

    thread = threading.Thread(target=kill)
    thread.start()
    there = clutch.sweep(design, OUTPUTS, engine=ray_cluster, chunk=4)
    ended = time.monotonic()
    thread.join()
    assert killed[0] < ended and there.done.all() and same(here, there)
