#!/usr/bin/env python3
"""Values that the headers of examples promise, computed without Saltus.

Each function works one system out by hand: the equations of every mode, when it ends, and what happens then. Linear
equations are solved by matrix exponentials, others by SciPy at a tolerance of 1e-13. Run it to print the values:

    pip install numpy scipy
    python3 tests/reference/examples.py [NAME …]
"""

import sys

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq


def show(variable, time, value):
    print(f"// expect: {variable} at {time} = {float(value):.15g}")


def event(time):
    print(f"// expect: event at {float(time):.15g}")


class Linear:
    """x' = A x + b, solved exactly."""

    def __init__(self, a, b):
        n = len(b)
        self.augmented = np.zeros((n + 1, n + 1))
        self.augmented[:n, :n] = a
        self.augmented[:n, n] = b

    def at(self, x, duration):
        return (expm(self.augmented * duration) @ np.append(x, 1.0))[:-1]

    def first_zero(self, function, x, duration):
        """When a function of the state, positive at first, becomes zero within a duration; None if it does not."""
        steps = np.linspace(0, duration, 200)
        values = [function(self.at(x, t)) for t in steps]
        for left, right, value in zip(steps[1:], steps[2:], values[2:]):
            if value < 0:
                return brentq(lambda t: function(self.at(x, t)), left, right, xtol=1e-17, rtol=1e-15)
        return None


def smooth(rate, x, begin, end, **options):
    return solve_ivp(rate, (begin, end), x, method="DOP853", rtol=1e-13, atol=1e-15, dense_output=True, **options)


def switched(on, off, stuck, x, period, width, wanted):
    """A converter: mode `on` for a part of each period, then `off` until the current (first state) is zero, then `stuck`.
    Values of the state at the wanted times."""
    found = {}
    for number in range(1000):
        begin = number * period
        pieces = [(on, begin, begin + width * period)]
        middle = on.at(x, width * period)
        rest = (1 - width) * period
        zero = off.first_zero(lambda y: y[0], middle, rest)
        ended = rest if zero is None else zero
        pieces.append((off, pieces[-1][2], pieces[-1][2] + ended))
        if zero is not None:
            pieces.append((stuck, pieces[-1][2], begin + period))
        for mode, start, stop in pieces:
            for time in wanted:
                if start <= time < stop or abs(time - start) < 1e-15:
                    found[time] = mode.at(x, time - start)
            x = mode.at(x, stop - start)
            if mode is off and zero is not None:
                x[0] = 0.0
        if begin + period > max(wanted):
            return found
    return found


def buck_converter():
    inductance, capacity, load, source = 10e-3, 100e-6, 10.0, 24.0
    a = [[0, -1 / inductance], [1 / capacity, -1 / (load * capacity)]]
    on, off = Linear(a, [source / inductance, 0]), Linear(a, [0, 0])
    stuck = Linear([[0, 0], [0, -1 / (load * capacity)]], [0, 0])
    wanted = [0.0012, 0.0105, 0.0152, 0.0196]
    for time, (i, v) in sorted(switched(on, off, stuck, np.zeros(2), 1e-3, 0.5, wanted).items()):
        show("inductor.i", time, i)
        show("capacitor.v", time, v)


def boost_converter():
    inductance, capacity, load, source = 5e-3, 200e-6, 20.0, 12.0
    decay = -1 / (load * capacity)
    on = Linear([[0, 0], [0, decay]], [source / inductance, 0])
    off = Linear([[0, -1 / inductance], [1 / capacity, decay]], [source / inductance, 0])
    stuck = Linear([[0, 0], [0, decay]], [0, 0])
    wanted = [0.0007, 0.0095, 0.0148, 0.0196]
    for time, (i, v) in sorted(switched(on, off, stuck, np.array([0.0, 12.0]), 1e-3, 0.4, wanted).items()):
        show("inductor.i", time, i)
        show("capacitor.v", time, v)


def h_bridge_motor():
    resistance, inductance, k, inertia, source = 1.0, 2e-3, 0.1, 2e-3, 24.0
    a = [[-resistance / inductance, -k / inductance], [k / inertia, 0]]
    driven = {sign: Linear(a, [sign * source / inductance, 0]) for sign in (1, -1)}
    wanted = [0.05, 0.0506, 0.0998, 0.1, 0.1006, 0.15, 0.2]
    x, found = np.zeros(2), {}
    for number in range(200):
        begin = number * 1e-3
        sign = 1 if number < 100 else -1
        pieces = [(driven[sign], 7e-4)]
        remaining = 3e-4
        middle = driven[sign].at(x, 7e-4)
        # The diodes return the current to the source, against its voltage, until it is zero.
        direction = np.sign(middle[0])
        back = driven[-direction]
        zero = back.first_zero(lambda y: direction * y[0], middle, remaining)
        pieces.append((back, remaining if zero is None else zero))
        if zero is not None:
            pieces.append((Linear(np.zeros((2, 2)), [0, 0]), remaining - zero))
        start = begin
        for mode, duration in pieces:
            for time in wanted:
                if start - 1e-12 <= time < start + duration - 1e-12:
                    found[time] = mode.at(x, max(0.0, time - start))
            x = mode.at(x, duration)
            start += duration
            if mode is back and zero is not None:
                x[0] = 0.0
    found[0.2] = x
    for time, (i, w) in sorted(found.items()):
        show("winding.i", time, i)
        show("rotor.w", time, w)


def three_phase_bridge():
    def voltage(t):
        phases = [100 * np.sin(2 * np.pi * 50 * t + shift) for shift in (0, -2 * np.pi / 3, 2 * np.pi / 3)]
        return max(phases) - min(phases)

    current, wanted = 0.0, [0.005, 0.0123, 0.02]
    # Every sixth of a period two diodes change, the first time after a twelfth.
    ends = [k * 0.02 / 6 + 0.02 / 12 for k in range(6)] + [0.02]
    begin = 0.0
    for end in ends:
        part = smooth(lambda t, i: [(voltage(t) - 5 * i[0]) / 20e-3], [current], begin, end)
        for time in wanted:
            if begin < time <= end:
                show("inductor.i", time, part.sol(time)[0])
                show("dc.v", time, voltage(time))
        current, begin = part.y[0, -1], end
        event(end)


def double_pendulum():
    """In angles from the vertical, with unit lengths and masses."""
    g = 9.81

    def rate(t, s):
        a, b, wa, wb = s
        d = a - b
        matrix = np.array([[2, np.cos(d)], [np.cos(d), 1]])
        right = np.array([-wb**2 * np.sin(d) - 2 * g * np.sin(a), wa**2 * np.sin(d) - g * np.sin(b)])
        return [wa, wb, *np.linalg.solve(matrix, right)]

    run = smooth(rate, [np.pi / 2, np.pi / 2, 0, 0], 0, 3)
    for time in (1, 2, 3):
        a, b, _, _ = run.sol(time)
        show("ball1.x", time, np.sin(a))
        show("ball2.x", time, np.sin(a) + np.sin(b))
        show("ball2.y", time, -np.cos(a) - np.cos(b))


def dual_clutch():
    engine, vehicle, drive = 0.1, 5.0, 10.0
    ramp = lambda t: 40 * min(1.0, max(0.0, t - 1))
    opening, closing = lambda t: 40 - ramp(t), ramp

    # Locked to first gear, the second clutch slips.
    first = lambda t: (3 * drive - 3 * closing(t) + 2 * closing(t)) / (vehicle + 9 * engine)
    held = lambda t: drive - closing(t) - engine * 3 * first(t)
    breaks = brentq(lambda t: held(t) + opening(t), 1, 2, xtol=1e-15)
    w = 10.0
    for begin, end in ((0, 1), (1, breaks)):
        part = smooth(lambda t, y: [first(t)], [w], begin, end)
        if begin == 0:
            show("engine.w", 0.5, 3 * part.sol(0.5)[0])
            show("vehicle.w", 1, part.y[0, -1])
        w = part.y[0, -1]
    event(breaks)
    # Both slip.
    rate = lambda t, y: [(drive + opening(t) - closing(t)) / engine, (2 * closing(t) - 3 * opening(t)) / vehicle]
    locks = lambda t, y: y[0] - 2 * y[1]
    locks.terminal = True
    part = smooth(rate, [3 * w, w], breaks, 2, events=locks)
    show("engine.w", 1.7, part.sol(1.7)[0])
    event(part.t[-1])
    begin, w = part.t[-1], part.y[1, -1]
    # Locked to second gear, the first clutch slips until it is open.
    for end in (2, 4):
        second = lambda t, y: [(2 * (drive + opening(t)) - 3 * opening(t)) / (vehicle + 4 * engine)]
        part = smooth(second, [w], begin, end)
        if end == 4:
            show("vehicle.w", 3.5, part.sol(3.5)[0])
            show("vehicle.w", 4, part.y[0, -1])
        begin, w = end, part.y[0, -1]


def one_way_clutch():
    time, drive, load, locked = 0.0, 0.0, 1.0, False
    wanted = {2: None, 5: None, 8: None, 10: None}
    while time < 10:
        if locked:
            rate = lambda t, y: [(3 * np.cos(t) - 0.5 * y[0]) / 3] * 2
            ends = lambda t, y: 2 * (3 * np.cos(t) - 0.5 * y[0]) / 3 + 0.5 * y[0]
        else:
            rate = lambda t, y: [3 * np.cos(t), -y[1] / 4]
            ends = lambda t, y: y[1] - y[0]
        ends.terminal, ends.direction = True, -1
        part = smooth(rate, [drive, load], time, 10, events=ends)
        for at in wanted:
            if time < at <= part.t[-1]:
                wanted[at] = part.sol(at)
        (drive, load), time, locked = part.y[:, -1], part.t[-1], not locked
        if time < 10:
            event(time)
    for at, (drive, load) in wanted.items():
        show("drive.w", at, drive)
        show("load.w", at, load)


def crane_slack_rope():
    """Until t = 2 s only the trolley moves; then the rope is tight and the load swings on it, off the floor."""
    trolley, load, length, force, g = 4.0, 1.0, 5.0, 6.0, 9.81
    along = np.array([3, 4]) / 5
    impulse = 3 * along[0] / (1 / load + along[0] ** 2 / trolley)
    show("impulse of rope.lambda, size", 2, impulse / length)
    speed = 3 - impulse * along[0] / trolley
    show("trolley.v", "2+", speed)
    show("load.vx", "2+", impulse * along[0] / load)
    show("load.vy", "2+", impulse * along[1] / load)
    angle = -np.arcsin(3 / 5)
    turning = (impulse * along[0] / load - speed) / (length * np.cos(angle))

    def accelerations(y):
        _, a, _, w = y
        matrix = [[trolley + load, load * length * np.cos(a)], [np.cos(a), length]]
        return np.linalg.solve(matrix, [force + load * length * np.sin(a) * w**2, -g * np.sin(a)])

    # It swings back: the floor takes its vertical velocity, which makes the rope slack, and it slides on.
    lands = lambda t, y: 4 - length * np.cos(y[1]) if t > 2.1 else 1.0
    lands.terminal, lands.direction = True, -1
    run = smooth(lambda t, y: [y[2], y[3], *accelerations(y)], [3, angle, speed, turning], 2, 3, events=lands)
    x, a, v, _ = run.sol(2.5)
    show("trolley.v", 2.5, v)
    show("load.x", 2.5, x + length * np.sin(a))
    show("load.y", 2.5, 4 - length * np.cos(a))
    landing = run.t[-1]
    event(landing)
    x, a, v, w = run.y[:, -1]
    slide = v + length * np.cos(a) * w
    assert slide > v and landing < 3
    show("load.vx", "3", slide)
    show("load.x", 3, x + length * np.sin(a) + slide * (3 - landing))
    show("trolley.v", 3, v + force / trolley * (3 - landing))

    def tension(t):
        y = run.sol(t)
        xdd, add = accelerations(y)
        horizontal = xdd + length * (np.cos(y[1]) * add - np.sin(y[1]) * y[3] ** 2)
        return -load * horizontal / np.sin(y[1])

    assert min(tension(t) for t in np.linspace(2.001, landing, 500)) > 0
    gap = x - (x + length * np.sin(a)) + (v - slide) * (3 - landing) + force / trolley * (3 - landing) ** 2 / 2
    assert gap < 3, "slack until the end"


def thermostat():
    constant, heated, cooled = 1e5 / 50, 273.15 + 2000 / 50, 273.15
    time = constant * np.log((heated - 290) / (heated - 293))
    count, hot = 0, True
    while time < 3600:
        event(time)
        count += 1
        end, begin, goal = (291, 293, cooled) if hot else (293, 291, heated)
        time += constant * np.log((begin - goal) / (end - goal))
        hot = not hot
    # One more event: on the way from 290 K the lower limit is crossed, which changes nothing.
    print("// expect: events", count + 1)


def water_tank():
    area, rho_g, resistance, suction = 0.1, 1000 * 9.81, 5e6, 5000.0
    constant = area * resistance / rho_g
    rising = (5e-3 * resistance - suction) / rho_g
    event(-constant * np.log(1 - 1 / rising))
    falling = -suction / rho_g
    event(100 + constant * np.log((1 - falling) / -falling))
    show("tank.level", 20, rising * (1 - np.exp(-20 / constant)))
    show("tank.level", 120, falling + (1 - falling) * np.exp(-20 / constant))
    show("tank.spill", 80, 5e-3 - (rho_g + suction) / resistance)


def diode_bridge():
    source = lambda t: abs(20 * np.sin(2 * np.pi * 50 * t))
    time, v, conducting = 0.0, 0.0, True
    wanted = {0.005: None, 0.015: None, 0.03: None, 0.04: None}
    while time < 0.04:
        half = (np.floor(time / 0.01 + 1e-9) + 1) * 0.01
        if conducting:
            rate = lambda t, y: [((source(t) - y[0]) / 1.0 - y[0] / 50) / 1e-3]
            ends = lambda t, y: source(t) - y[0]
            ends.direction = -1
        else:
            rate = lambda t, y: [-y[0] / 50 / 1e-3]
            ends = lambda t, y: source(t) - y[0]
            ends.direction = 1
        ends.terminal = True
        part = smooth(rate, [v], time, min(half, 0.04), events=ends, max_step=1e-4)
        for at in wanted:
            if time < at <= part.t[-1] + 1e-15:
                wanted[at] = part.sol(at)[0]
        if len(part.t_events[0]):
            conducting = not conducting
            event(part.t[-1])
        time, v = part.t[-1], part.y[0, -1]
    for at, value in wanted.items():
        show("capacitor.v", at, value)


SYSTEMS = {
    "BuckConverter": buck_converter,
    "BoostConverter": boost_converter,
    "HBridgeMotor": h_bridge_motor,
    "ThreePhaseBridge": three_phase_bridge,
    "DoublePendulum": double_pendulum,
    "DualClutch": dual_clutch,
    "OneWayClutch": one_way_clutch,
    "CraneSlackRope": crane_slack_rope,
    "Thermostat": thermostat,
    "WaterTank": water_tank,
    "DiodeBridge": diode_bridge,
}

for name in sys.argv[1:] or SYSTEMS:
    print(name)
    SYSTEMS[name]()
