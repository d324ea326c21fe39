// Initial equations for Booleans give the values before the start, through the definitions of the Booleans.
//
// `active = true` says what pre(next) is, because active = local = pre(next); `pre(next) = pre(local)` is then left to give
// pre(local).
//
// run: stop = 3
// expect: active at 0 = 1 within 0
// expect: resting at 0 = 0 within 0
// expect: active at 1+ = 0 within 0
// expect: resting at 1+ = 1 within 0
// expect: active at 3 = 0 within 0

model PreviousValues "A token that starts in the first of two places"
  Boolean active, local, next, memory;
  Boolean resting, localResting, nextResting;
  Boolean fire;
initial equation
  pre(next) = pre(local);
  pre(memory) = pre(local);
  active = true;
  pre(nextResting) = pre(localResting);
  not resting = true;
  pre(fire) = false;
equation
  active = local;
  local = pre(next);
  next = local and not fire;
  resting = localResting;
  localResting = pre(nextResting);
  nextResting = fire or localResting;
  fire = time >= 1 and local and not localResting;
  when fire then
    memory = local;
  end when;
end PreviousValues;
