// Inside the class that declares it, a component that is inner and outer is the outer one; to the components of the class
// it is the inner one. Its modification belongs to the inner one, where names mean the outer one again.
//
// run: stop = 1
// expect: level.seen at 0 = 10 within 0
// expect: level.part.y at 0 = 11 within 0
// expect: level.deeper.seen at 0 = 11 within 0
// expect: level.deeper.part.y at 0 = 111 within 0

package Levels
  model World
    Real value = 0;
  end World;

  model Part
    outer World world;
    Real y = world.value;
  end Part;

  model Deeper
    inner outer World world(value = world.value + 100);
    Part part;
    Real seen = world.value;
  end Deeper;

  model Level
    inner outer World world(value = world.value + 1);
    Part part;
    Deeper deeper;
    Real seen = world.value;
  end Level;
end Levels;

model InnerAndOuter "Worlds inside worlds"
  inner Levels.World world(value = 10);
  Levels.Level level;
end InnerAndOuter;
