'use strict';
// The plane of a mechanism: its shapes at the time of the cursor, and a film of them.
async function makeScene(shapes, {signals, load, limits, ink, el, find, stroke, range, number, setCursor}) {
  const NAMES = ['x', 'y', 'x1', 'y1', 'x2', 'y2', 'length', 'on', 'side'];
  const used = new Set();
  for (const shape of shapes) for (const name of NAMES) if (Array.isArray(shape[name])) used.add(shape[name][0]);
  await Promise.all([...used].map(id => load(signals[id])));
  const stored = v => Array.isArray(v) ? signals[v[0]] : null;
  // Coordinates are lengths: shown units do not matter here.
  const value = (v, time) => {
    const s = stored(v);
    if (!s) return v;
    return (limits(s, time)[1] - s.b) / Math.abs(s.a || 1);
  };
  const bounds = frame(shapes, stored);
  const canvas = el('canvas'), slider = el('input', {type: 'range', min: 0, max: 1000, value: 0, ariaLabel: 'Time'});
  const play = el('button', {textContent: '▶', title: 'Play or pause (space)'});
  // The whole film takes some seconds.
  const SPEEDS = [.01, .1, .25, .5, 1, 2, 5, 10, 50, 100], span = range[1] - range[0];
  const usual = span < 2 ? (span < .2 ? .01 : .25) : SPEEDS.find(f => f >= 1 && span / f <= 20) ?? 100;
  const speed = el('select', {ariaLabel: 'Speed'}, ...SPEEDS.map(f => el('option', {value: f, textContent: `${f} ×`, selected: f === usual})));
  const label = el('span', {className: 'note'}), trails = el('input', {type: 'checkbox', checked: true});
  const details = el('details', {className: 'part', open: true}, el('summary', {}, el('h2', {textContent: 'Motion'})),
    el('div', {className: 'bar'}, play, slider, label, speed, el('label', {}, trails, ' paths')), canvas);
  find('scene').append(details);
  let time = range[0], running = 0;
  function frame(all, of) {
    let [l, r, b, t] = [Infinity, -Infinity, Infinity, -Infinity];
    const put = (v, horizontal) => {
      const s = of(v);
      const [low, high] = s ? [s.low, s.high].map(x => (x - s.b) / Math.abs(s.a || 1)) : [v, v];
      if (horizontal) { l = Math.min(l, low); r = Math.max(r, high); } else { b = Math.min(b, low); t = Math.max(t, high); }
    };
    for (const shape of all) {
      for (const name of ['x', 'x1', 'x2']) if (name in shape) put(shape[name], true);
      for (const name of ['y', 'y1', 'y2']) if (name in shape) put(shape[name], false);
    }
    if (!(r >= l)) [l, r] = [-1, 1];
    if (!(t >= b)) [b, t] = [-1, 1];
    const room = .08 * Math.max(r - l, t - b, 1e-9);
    return [l - room, r + room, b - room, t + room];
  }
  function draw() {
    const ratio = devicePixelRatio, width = Math.max(find('scene').clientWidth, 100);
    const [l, r, b, t] = bounds;
    const scale = Math.min(width / (r - l), 440 / (t - b)), height = Math.min(440, Math.max(160, (t - b) * scale));
    canvas.width = width * ratio; canvas.height = height * ratio;
    canvas.style.width = `${width}px`; canvas.style.height = `${height}px`;
    const ctx = canvas.getContext('2d');
    ctx.scale(ratio, ratio);
    const X = x => width / 2 + (x - (l + r) / 2) * scale, Y = y => height / 2 - (y - (b + t) / 2) * scale;
    const colors = stroke(), line = ink('--ink'), faint = ink('--faint');
    ctx.lineCap = 'round'; ctx.lineJoin = 'round';
    if (trails.checked) for (const [i, shape] of shapes.entries()) if (shape.k === 'Point') path(ctx, shape, X, Y, colors[i % colors.length]);
    for (const shape of shapes) {
      const at = name => value(shape[name], time), on = 'on' in shape && at('on') > .5;
      ctx.strokeStyle = line; ctx.fillStyle = line; ctx.lineWidth = 2;
      if (shape.k === 'Floor' || shape.k === 'Rail') {
        const y = Y(at('y'));
        ctx.strokeStyle = faint; ctx.beginPath(); ctx.moveTo(0, y); ctx.lineTo(width, y); ctx.stroke();
        if (shape.k === 'Floor') ground(ctx, faint, 0, width, k => [[k, y], [k - 8, y + 8]]);
        if (on && 'x' in shape) mark(ctx, X(at('x')), y);
      } else if (shape.k === 'Wall') {
        const x = X(at('x')), side = 'side' in shape ? at('side') : 1;
        ctx.strokeStyle = faint; ctx.beginPath(); ctx.moveTo(x, 0); ctx.lineTo(x, height); ctx.stroke();
        ground(ctx, faint, 0, height, k => [[x, k], [x + 8 * side, k + 8]]);
        if (on && 'y' in shape) mark(ctx, x, Y(at('y')));
      } else if (shape.k === 'Line') {
        ctx.lineWidth = 4; ctx.beginPath(); ctx.moveTo(X(at('x1')), Y(at('y1'))); ctx.lineTo(X(at('x2')), Y(at('y2'))); ctx.stroke();
      } else if (shape.k === 'Rope') {
        rope(ctx, [at('x1'), at('y1')], [at('x2'), at('y2')], at('length'), on, X, Y, on ? colors[1] : faint);
      } else if (shape.k === 'Fixed') {
        const [x, y] = [X(at('x')), Y(at('y'))];
        ctx.beginPath(); ctx.moveTo(x, y); ctx.lineTo(x - 8, y - 12); ctx.lineTo(x + 8, y - 12); ctx.closePath(); ctx.stroke();
        ground(ctx, faint, x - 10, x + 14, k => [[k, y - 12], [k - 5, y - 18]]);
      } else if (shape.k === 'Cart') {
        ctx.fillRect(X(at('x')) - 12, Y(at('y')) - 7, 24, 14);
      }
    }
    for (const [i, shape] of shapes.entries()) if (shape.k === 'Point') {
      const [x, y] = [X(value(shape.x, time)), Y(value(shape.y, time))];
      ctx.fillStyle = colors[i % colors.length];
      ctx.beginPath(); ctx.arc(x, y, 8, 0, 7); ctx.fill();
      ctx.fillStyle = line; ctx.font = '12px system-ui, sans-serif'; ctx.fillText(shape.c, x + 12, y - 10);
    }
    slider.value = 1000 * (time - range[0]) / (range[1] - range[0]);
    label.textContent = `t = ${number(time, 5)} s`;
  }
  function path(ctx, shape, X, Y, color) {
    const x = stored(shape.x), y = stored(shape.y), base = x ?? y;
    if (!base) return;
    ctx.strokeStyle = color; ctx.globalAlpha = .35; ctx.lineWidth = 1.2; ctx.beginPath();
    const step = Math.max(1, Math.floor(base.t.length / 4000));
    for (let i = 0; i < base.t.length && base.t[i] <= time; i += step) ctx.lineTo(X(value(shape.x, base.t[i])), Y(value(shape.y, base.t[i])));
    ctx.stroke(); ctx.globalAlpha = 1;
  }
  function ground(ctx, color, from, to, at) {
    ctx.strokeStyle = color; ctx.lineWidth = 1; ctx.beginPath();
    for (let k = from; k < to; k += 9) { const [a, b] = at(k); ctx.moveTo(...a); ctx.lineTo(...b); }
    ctx.stroke();
  }
  function mark(ctx, x, y) {
    ctx.strokeStyle = stroke()[1]; ctx.lineWidth = 3; ctx.beginPath(); ctx.arc(x, y, 13, 0, 7); ctx.stroke();
  }
  /** A rope hangs in an arc of its length; how deep follows from the missing distance. */
  function rope(ctx, a, b, length, taut, X, Y, color) {
    const distance = Math.hypot(b[0] - a[0], b[1] - a[1]);
    const sag = taut ? 0 : Math.sqrt(Math.max(0, 3 / 8 * (length - distance) * Math.max(distance, .25 * length)));
    ctx.strokeStyle = color; ctx.lineWidth = taut ? 2.4 : 1.6; ctx.beginPath();
    for (let k = 0; k <= 24; k++) {
      const f = k / 24;
      ctx.lineTo(X(a[0] + f * (b[0] - a[0])), Y(a[1] + f * (b[1] - a[1]) - 4 * sag * f * (1 - f)));
    }
    ctx.stroke();
  }
  function run(last) {
    running = requestAnimationFrame(now => {
      time += (now - last) / 1000 * Number(speed.value);
      if (time >= range[1]) { time = range[1]; toggle(); } else run(now);
      setCursor(time);
    });
  }
  function toggle() {
    if (running) { cancelAnimationFrame(running); running = 0; } else {
      if (time >= range[1]) time = range[0];
      run(performance.now());
    }
    play.textContent = running ? '❚❚' : '▶';
  }
  play.onclick = toggle;
  slider.oninput = () => setCursor(range[0] + slider.value / 1000 * (range[1] - range[0]));
  trails.onchange = draw;
  draw();
  return {draw, toggle, at: t => { time = t; draw(); }, time: () => time, value, shapes};
}
