"""Where runs are made: on anything that takes functions and gives back what they yield."""

from __future__ import annotations

import concurrent.futures
import os
from collections.abc import Iterator
from typing import Any, Protocol

from ._worker import Chunk, Job, run_chunk


class Engine(Protocol):
    """Takes chunks of runs; gives back tasks as they are done."""

    #: How many tasks it does at the same time.
    workers: int

    def submit(self, data: bytes, job: Job, chunk: Chunk, with_model: bool) -> Any:
        """Begins a task. ``with_model``: the worker may not have the model yet."""

    def done(self, tasks: list[Any]) -> Iterator[Any]:
        """Waits until at least one of the tasks is done; those that are."""

    def result(self, task: Any) -> Any:
        """What a task yielded."""

    def cancel(self, tasks: list[Any]) -> None:
        """Gives tasks up."""

    #: Whether the model reaches workers by other means than the arguments of tasks.
    spreads_model: bool


class ExecutorEngine:
    """``concurrent.futures.Executor``: process and thread pools, ``mpi4py.futures``, ``Client.get_executor()``."""

    spreads_model = False

    def __init__(self, executor: concurrent.futures.Executor) -> None:
        self._executor = executor
        self.workers = int(getattr(executor, "_max_workers", None) or os.cpu_count() or 1)

    def submit(self, data: bytes, job: Job, chunk: Chunk, with_model: bool) -> Any:
        return self._executor.submit(run_chunk, data if with_model else None, job, chunk)

    def done(self, tasks: list[Any]) -> Iterator[Any]:
        yield from concurrent.futures.wait(tasks, return_when=concurrent.futures.FIRST_COMPLETED).done

    def result(self, task: Any) -> Any:
        try:
            return task.result()
        except concurrent.futures.BrokenExecutor as error:
            raise RuntimeError(
                "a worker process of the pool is gone, and with it the pool: make another one; with `store=` and"
                " `resume=True` the runs that were made are kept"
            ) from error

    def cancel(self, tasks: list[Any]) -> None:
        for task in tasks:
            task.cancel()


class DaskEngine:
    """``distributed.Client``. The scheduler gives the tasks of a worker that is lost to others."""

    spreads_model = True

    def __init__(self, client: Any) -> None:
        self._client = client
        self._spread: dict[int, Any] = {}
        cores = sum(client.ncores().values())
        if cores == 0:
            client.wait_for_workers(1)
            cores = sum(client.ncores().values())
        self.workers = max(1, cores)

    def submit(self, data: bytes, job: Job, chunk: Chunk, with_model: bool) -> Any:
        if id(data) not in self._spread:
            # Once to every worker, not with each task.
            self._spread[id(data)] = self._client.scatter(data, broadcast=True, hash=False)
        return self._client.submit(run_chunk, self._spread[id(data)], job, chunk, pure=False)

    def done(self, tasks: list[Any]) -> Iterator[Any]:
        import distributed

        wait: Any = distributed.wait
        yield from wait(tasks, return_when="FIRST_COMPLETED").done

    def result(self, task: Any) -> Any:
        return task.result()

    def cancel(self, tasks: list[Any]) -> None:
        self._client.cancel(tasks)


class RayEngine:
    """Ray, which is started on this machine unless it runs."""

    spreads_model = True

    def __init__(self) -> None:
        import importlib

        ray: Any = importlib.import_module("ray")
        if not ray.is_initialized():
            ray.init(include_dashboard=False, log_to_driver=False)
        self._ray = ray
        self._function = ray.remote(run_chunk)
        self._spread: dict[int, Any] = {}
        self.workers = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def submit(self, data: bytes, job: Job, chunk: Chunk, with_model: bool) -> Any:
        if id(data) not in self._spread:
            self._spread[id(data)] = self._ray.put(data)
        return self._function.remote(self._spread[id(data)], job, chunk)

    def done(self, tasks: list[Any]) -> Iterator[Any]:
        yield from self._ray.wait(tasks, num_returns=1)[0]

    def result(self, task: Any) -> Any:
        return self._ray.get(task)

    def cancel(self, tasks: list[Any]) -> None:
        for task in tasks:
            self._ray.cancel(task, force=False)


class JoblibEngine:
    """``joblib.Parallel``, a batch of tasks at a time."""

    spreads_model = False

    def __init__(self, parallel: Any) -> None:
        import joblib

        self._parallel = parallel
        self._delayed = joblib.delayed
        self.workers = max(1, joblib.effective_n_jobs(parallel.n_jobs))

    def submit(self, data: bytes, job: Job, chunk: Chunk, with_model: bool) -> Any:
        # Tasks of a batch need not come to the workers of the one before.
        return _Waiting(data, job, chunk)

    def done(self, tasks: list[Any]) -> Iterator[Any]:
        waiting = [task for task in tasks if task.value is None]
        values = self._parallel(self._delayed(run_chunk)(task.data, task.job, task.chunk) for task in waiting)
        for task, value in zip(waiting, values):
            task.value = value
        yield from tasks

    def result(self, task: Any) -> Any:
        return task.value

    def cancel(self, tasks: list[Any]) -> None:
        pass


class _Waiting:
    def __init__(self, data: bytes, job: Job, chunk: Chunk) -> None:
        self.data, self.job, self.chunk, self.value = data, job, chunk, None


def engine_of(source: Any) -> Engine | None:
    """The engine that something stands for; None for the threads of this process."""
    if source is None or source == "threads":
        return None
    if isinstance(source, concurrent.futures.Executor):
        return ExecutorEngine(source)
    if source == "ray" or getattr(source, "__name__", "") == "ray":
        return RayEngine()
    module = type(source).__module__
    if module.startswith("distributed") and hasattr(source, "scatter"):
        return DaskEngine(source)
    if module.startswith("joblib") and hasattr(source, "n_jobs"):
        return JoblibEngine(source)
    if all(hasattr(source, name) for name in ("workers", "submit", "done", "result", "cancel", "spreads_model")):
        engine: Engine = source
        return engine
    raise TypeError(
        f"{source!r} is no engine: give None, an Executor, a distributed.Client, \"ray\", or a joblib.Parallel"
    )
