"""Values of a result at given times, and how far they are from what is known."""

import bisect


def error(case, times, columns):
    """The largest error relative to the size of the variables; None if nothing could be compared."""
    worst = None
    for check in case.checks:
        if check.variable not in columns:
            continue
        value = value_at(times, columns[check.variable], check, case.stop)
        if value is None:
            continue
        # Also catches what is not a number.
        relative = abs(value - check.value) / case.scale(check.variable)
        relative = relative if relative == relative else float("inf")
        worst = relative if worst is None else max(worst, relative)
    return worst


def value_at(times, values, check, stop):
    window = 1e-7 * stop
    first = bisect.bisect_left(times, check.time - window)
    last = bisect.bisect_right(times, check.time + window) - 1
    if check.side and first >= last:
        return None  # The tool wrote no rows for this event; it is judged by its other values.
    if first <= last:
        return values[first if check.side == "-" else last]
    if first == 0 or first == len(times):
        return None
    weight = (check.time - times[first - 1]) / (times[first] - times[first - 1])
    return (1 - weight) * values[first - 1] + weight * values[first]
