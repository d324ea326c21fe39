// model Vehicle
// unknowns 9
// equations 9
// variable bus.engine.speed
// variable bus.level[2]
// variable engine.bus.speed
// no variable bus.unused
// no variable bus.engine.unused
// equation engine.bus.speed = bus.engine.speed
// model Chain
// unknowns 6
// equations 6
// variable first.x
// variable third.x
// no variable first.y
// model Lost
// error E0201 has no element `x`
expandable connector Bus
  Real unused;
end Bus;

connector Out = output Real;
connector In = input Real;

model Engine
  Bus bus;
  Out speed = 2*time;
equation
  connect(bus.speed, speed);
end Engine;

model Gauge
  In u;
  Real shown = u;
end Gauge;

model Tank
  parameter Integer n = 2;
  Out level[n] = {time, -time};
end Tank;

model Vehicle "elements come from both sides of connections, through buses inside of buses"
  Bus bus;
  Engine engine;
  Gauge gauge;
  Tank tank;
equation
  connect(bus.engine, engine.bus);
  connect(bus.engine.speed, gauge.u);
  connect(tank.level[1], bus.level[1]);
  connect(tank.level[2], bus.level[2]);
end Vehicle;

model Chain "what one bus has, all connected ones have"
  Bus first, second, third;
  Out source = time;
  Gauge gauge;
equation
  connect(source, first.x);
  connect(first, second);
  connect(second, third);
  connect(third.x, gauge.u);
end Chain;

model Lost "nothing says what the element is"
  Bus first, second;
equation
  connect(first.x, second.x);
end Lost;
