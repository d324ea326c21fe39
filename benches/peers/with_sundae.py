"""One case with scikit-sundae: prints the outcome as JSON.

scikit-sundae has no modelling language. The equations are written by hand in the form the solver needs, as somebody
would who has no other tool: explicit, of index one, with the events and what happens at them. Where this takes the
derivation that Saltus does by itself, the comment says so.
"""

import json
import sys
import time

import numpy
from sksundae.cvode import CVODE

from cases import TOLERANCE, cases


def robertson():
    def rate(t, y, yp):
        yp[0] = -0.04 * y[0] + 1e4 * y[1] * y[2]
        yp[2] = 3e7 * y[1] ** 2
        yp[1] = -yp[0] - yp[2]

    return rate, [1.0, 0.0, 0.0], ["a", "b", "c"], {"atol": [1e-9, 1e-14, 1e-9]}


def van_der_pol():
    def rate(t, y, yp):
        yp[0] = y[1]
        yp[1] = 1000 * (1 - y[0] ** 2) * y[1] - y[0]

    return rate, [2.0, 0.0], ["x", "v"], {}


def heat_rod():
    n = 100
    places = numpy.arange(1, n + 1)

    def rate(t, y, yp):
        yp[:] = -2 * y
        yp[1:] += y[:-1]
        yp[:-1] += y[1:]
        yp *= (n + 1) ** 2

    start = numpy.sin(numpy.pi * places / (n + 1))
    return rate, start, [f"T[{i}]" for i in places], {"linsolver": "band", "lband": 1, "uband": 1}


def mass_chain():
    n = 100
    places = numpy.arange(1, n + 1)

    def rate(t, y, yp):
        x = y[:n]
        yp[:n] = y[n:]
        yp[n:] = -2 * x
        yp[n + 1 :] += x[:-1]
        yp[n:-1] += x[1:]

    start = numpy.concatenate([numpy.sin(5 * numpy.pi * places / (n + 1)), numpy.zeros(n)])
    return rate, start, [f"x[{i}]" for i in places] + [f"v[{i}]" for i in places], {"method": "Adams"}


def simple(make, case):
    rate, start, names, options = make()
    solver = CVODE(rate, rtol=TOLERANCE, max_num_steps=100000, **({"atol": TOLERANCE * 1e-3} | options))
    count = round(case.stop / case.interval)
    solution = solver.solve(numpy.linspace(0, case.stop, count + 1), numpy.array(start))
    if not solution.success:
        raise RuntimeError(solution.message)
    return solution.t, dict(zip(names, solution.y.T))


def pendulum(case):
    """By hand: the angle from the lowest point instead of x, y and the force of the rod."""

    def rate(t, y, yp):
        yp[0] = y[1]
        yp[1] = -9.81 * numpy.sin(y[0])

    t, columns = simple(lambda: (rate, [numpy.pi / 2, 0.0], ["angle", "speed"], {}), case)
    angle, speed = columns["angle"], columns["speed"]
    force = -(speed**2 + 9.81 * numpy.cos(angle))
    return t, {"x": numpy.sin(angle), "y": -numpy.cos(angle), "lambda": force}


def bouncing_ball(case):
    """By hand: the run is cut at each impact and begun again with another velocity."""

    def rate(t, y, yp):
        yp[0] = y[1]
        yp[1] = -9.81

    def impact(t, y, events):
        events[0] = y[0]

    impact.terminal, impact.direction = [True], [-1]
    solver = CVODE(rate, rtol=TOLERANCE, atol=TOLERANCE * 1e-3, eventsfn=impact, num_events=1)
    grid = numpy.linspace(0, case.stop, round(case.stop / case.interval) + 1)
    times, rows, state, now = [], [], numpy.array([1.0, 0.0]), 0.0
    while now < case.stop:
        part = solver.solve(numpy.concatenate([[now], grid[grid > now + 1e-12]]), state)
        times += part.t.tolist()
        rows += part.y.tolist()
        if part.t[-1] >= case.stop:
            break
        now, state = part.t_events[-1], numpy.array([0.0, -0.7 * part.y_events[-1][1]])
    rows = numpy.array(rows)
    return times, {"h": rows[:, 0], "v": rows[:, 1]}


def motor_and_load(case):
    """By hand: the states of each mode, and the common speed that conserves momentum and charge when the clutch
    engages: J1*w1 + J2*w2 + C*k*u with u = k*w."""
    j1, j2, capacity, k, resistance, source = 0.1, 0.4, 2.0, 0.25, 10.0, 10.0

    def engaged(t, y, yp):
        inertia = j1 + j2 + capacity * k * k
        yp[0] = yp[1] = (source - k * y[0]) / resistance * k / inertia

    def opened(t, y, yp):
        yp[0] = (source - k * y[0]) / resistance * k / (j1 + capacity * k * k)
        yp[1] = 0.0

    times, rows, state = [], [], numpy.array([0.0, 10.0])
    for rate, begin, end in [(engaged, 0, 100), (opened, 100, 300), (engaged, 300, 500)]:
        if rate is engaged:
            # The momentum of the motor's side includes the charge at its voltage; at the start it is zero.
            common = ((j1 + capacity * k * k) * state[0] + j2 * state[1]) / (j1 + j2 + capacity * k * k)
            state = numpy.array([common, common])
        solver = CVODE(rate, rtol=TOLERANCE, atol=TOLERANCE * 1e-3, max_num_steps=100000)
        grid = numpy.linspace(begin, end, round((end - begin) / case.interval) + 1)
        part = solver.solve(grid, state)
        times += part.t.tolist()
        rows += part.y.tolist()
        state = part.y[-1]
    rows = numpy.array(rows)
    return times, {"rotor.w": rows[:, 0], "load.w": rows[:, 1], "capacitor.u": k * rows[:, 0]}


BY_HAND = {
    "Robertson": lambda case: simple(robertson, case),
    "VanDerPol": lambda case: simple(van_der_pol, case),
    "HeatRod": lambda case: simple(heat_rod, case),
    "MassChain": lambda case: simple(mass_chain, case),
    "Pendulum": pendulum,
    "BouncingBall": bouncing_ball,
    "MotorAndLoad": motor_and_load,
}


def main():
    case = cases([sys.argv[1]])[0]
    if case.name not in BY_HAND:
        print(json.dumps({"refusal": "not written by hand"}))
        return
    begin = time.process_time()
    times, columns = BY_HAND[case.name](case)
    run = time.process_time() - begin
    wanted = {check.variable for check in case.checks} & columns.keys()
    values = {name: [float(value) for value in columns[name]] for name in sorted(wanted)}
    print(json.dumps({"run": run, "times": [float(t) for t in times], "columns": values}))


main()
