"""One case with rumoca: prints the outcome as JSON."""

import json
import sys
import time

import rumoca

from cases import LIBRARY, TOLERANCE, cases

case = cases([sys.argv[1]])[0]
try:
    begin = time.process_time()
    session = rumoca.Session(roots=[str(LIBRARY)])
    model = session.load(str(case.path), model=case.name)
    compiled = time.process_time()
    config = rumoca.SimConfig(rtol=TOLERANCE, atol=TOLERANCE * 1e-3, max_wall_seconds=50)
    result = model.simulate(t=(0, case.stop), dt=case.interval, config=config)
    ended = time.process_time()
except rumoca.RumocaError as error:
    print(json.dumps({"refusal": " ".join(str(error).split())[:200]}))
    sys.exit()
wanted = {check.variable for check in case.checks} & set(result.names)
columns = {name: [float(value) for value in result[name]] for name in sorted(wanted)}
times = [float(value) for value in result.time]
print(json.dumps({"compile": compiled - begin, "run": ended - compiled, "times": times, "columns": columns}))
