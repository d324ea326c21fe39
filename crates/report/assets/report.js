'use strict';
// The page's own script. Texts of models are only ever shown as text (textContent and canvases), never as markup.
(() => {
const el = (tag, props, ...children) => {
  const node = Object.assign(document.createElement(tag), props);
  node.append(...children);
  return node;
};
const find = id => document.getElementById(id);
const D = JSON.parse(find('data').textContent);
const root = document.documentElement;
const LINES = {
  light: ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#B97F00', '#3A9BD1', '#444444'],
  dark: ['#4FB3EE', '#FF8A3D', '#35D0A5', '#EBA5CC', '#F0C24B', '#8FD0F5', '#C8CDD2'],
};
const BANDS = {
  light: ['#ffffff', '#dcecf9', '#fdebd3', '#dcf2e4', '#f8e0ec', '#fbf7cf', '#e6e1f4', '#e9e9e9'],
  dark: ['#14181d', '#17304a', '#43301a', '#17382a', '#43233a', '#3c3a17', '#2d2850', '#30353b'],
};
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
const AXIS = 64, EDGE = 14;
const theme = () => root.dataset.theme;
const ink = name => getComputedStyle(root).getPropertyValue(name).trim();

// ---- numbers -------------------------------------------------------------------------------------------------------------

const columns = new Map();
/** The numbers of a column; see encode.rs for how they are stored. */
function column(index) {
  if (!columns.has(index)) columns.set(index, unpack(index));
  return columns.get(index);
}
async function unpack(index) {
  const text = atob(find('c' + index).textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  return decode(planes, D.orders[index]);
}
const WEIGHTS = [[1], [2, -1], [3, -3, 1], [4, -6, 4, -1], [5, -10, 10, -5, 1], [6, -15, 20, -15, 6, -1]];
function decode(planes, order) {
  const n = planes.length / 8, values = new Float64Array(n), bits = new Uint32Array(values.buffer);
  const guess = new Float64Array(1), half = new Uint32Array(guess.buffer);
  for (let i = 0; i < n; i++) {
    let low = planes[i] | planes[n + i] << 8 | planes[2 * n + i] << 16 | planes[3 * n + i] << 24;
    let high = planes[4 * n + i] | planes[5 * n + i] << 8 | planes[6 * n + i] << 16 | planes[7 * n + i] << 24;
    const sign = -(low & 1);
    low = ((low >>> 1 | high << 31) ^ sign) >>> 0;
    high = ((high >>> 1) ^ sign) >>> 0;
    let a = 0, b = 0;
    const k = Math.min(order, i);
    if (k > 1) {
      let sum = 0;
      for (let j = 0; j < k; j++) sum += WEIGHTS[k - 1][j] * values[i - 1 - j];
      guess[0] = sum;
    }
    if (k > 1 && Number.isFinite(guess[0])) [a, b] = half;
    else if (k > 0) { a = bits[2 * i - 2]; b = bits[2 * i - 1]; }
    const sum = a + low;
    bits[2 * i] = sum;
    bits[2 * i + 1] = b + high + (sum > 0xffffffff ? 1 : 0);
  }
  return values;
}
/** The first place whose time is not before (or, if `after`, is behind) a time. */
function place(times, time, after) {
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (after ? times[middle] <= time : times[middle] < time) low = middle + 1; else high = middle;
  }
  return low;
}
const number = (value, digits = 6) => {
  if (value == null || Number.isNaN(value)) return '–';
  const text = String(Number(value.toPrecision(digits)));
  const raised = exponent => [...exponent.replace('+', '')].map(c => '⁰¹²³⁴⁵⁶⁷⁸⁹'[c] ?? '⁻').join('');
  return text.replace(/^-/, '−').replace(/e(.*)/, (_, exponent) => '·10' + raised(exponent));
};

// ---- signals -------------------------------------------------------------------------------------------------------------

const signals = D.signals.map((s, id) => ({
  id, name: s.n, unit: s.u || '', about: s.d || '', kind: s.k || 0, literals: s.l || [], a: s.a ?? 1, b: s.b ?? 0,
  time: s.t, values: s.v, reference: !!s.r, minor: !!s.m, lower: s.n.toLowerCase() + ' ' + (s.d || '').toLowerCase(),
}));
const isLane = s => s.kind >= 2;
async function load(s) {
  if (s.t) return s;
  const [t, stored] = await Promise.all([column(s.time), column(s.values)]);
  const v = s.a === 1 && s.b === 0 ? stored : stored.map(x => s.a * x + s.b);
  let low = Infinity, high = -Infinity;
  for (const x of v) { if (x < low && x > -Infinity) low = x; if (x > high && x < Infinity) high = x; }
  return Object.assign(s, {t, v, low, high});
}
/** Left and right limits at a time. */
function limits(s, time) {
  const from = place(s.t, time), to = place(s.t, time, true);
  if (to > from) return [s.v[from], s.v[to - 1]];
  if (from === 0 || from === s.t.length) return [NaN, NaN];
  const i = from - 1, held = s.v[i];
  if (s.kind > 0) return [held, held];
  const value = held + (time - s.t[i]) / (s.t[i + 1] - s.t[i]) * (s.v[i + 1] - held);
  return [value, value];
}
function valueText(s, value) {
  if (Number.isNaN(value)) return '–';
  if (s.kind === 2) return value ? 'true' : 'false';
  if (s.kind === 3) return s.literals[value - 1] ?? String(value);
  return number(value, 7);
}

// ---- state ---------------------------------------------------------------------------------------------------------------

let view = D.view.slice(), cursor = null;
let panels = [];
const colors = new Map();
function colorOf(s) {
  const twin = s.reference ? signals[s.id - 1] : s;
  if (!colors.has(twin.id)) {
    // A colour of its own, or one that its panel does not have, or dashes.
    const many = LINES.light.length, used = [...colors.values()];
    const own = panels.find(p => p.signals.includes(s))?.signals.map(other => colors.get(other.id)) ?? [];
    const free = taken => [...Array(4 * many).keys()].find(at => !taken.includes(at)) ?? 0;
    const next = free(used);
    colors.set(twin.id, next < many ? next : free(own));
  }
  return colors.get(twin.id);
}
const stroke = s => LINES[theme()][colorOf(s) % LINES.light.length];
const dashes = s => s.reference ? [6, 4] : DASHES[Math.floor(colorOf(s) / LINES.light.length) % DASHES.length];
const isShown = s => panels.some(p => p.signals.includes(s));

async function show(s, on) {
  if (!on) {
    for (const p of panels) p.signals = p.signals.filter(other => other !== s);
    panels.filter(p => !p.signals.length).forEach(drop);
    panels = panels.filter(p => p.signals.length);
    colors.delete(s.id);
  } else if (!isShown(s)) {
    await load(s);
    const home = panels.find(p => p.lanes === isLane(s) && (p.lanes || p.unit === s.unit) && p.signals.length < 12);
    if (home) home.signals.push(s); else panels.push({unit: s.unit, lanes: isLane(s), signals: [s]});
  }
  arrange();
}
function drop(p) { p.plot?.destroy(); p.node?.remove(); }

// ---- curves --------------------------------------------------------------------------------------------------------------

/**
 * Draws the part of a curve that is seen. Of the points in one column of pixels it draws the first, the lowest, the highest and
 * the last: no peak is lost, however many rows there are.
 */
function trace(s, from, to, X, Y, out, dashed = true) {
  let column = NaN, first, last, low, high, open = false;
  const put = (x, y) => { if (open) out.line(x, y); else out.move(x, y); open = true; };
  const flush = () => {
    if (Number.isNaN(column)) return;
    put(first[0], first[1]);
    const [p, q] = low[0] <= high[0] ? [low, high] : [high, low];
    if (p !== first) put(p[0], p[1]);
    if (q !== p && q !== first) put(q[0], q[1]);
    if (last !== q && last !== p && last !== first) put(last[0], last[1]);
    column = NaN;
  };
  const point = (x, y) => {
    const here = Math.floor(x), p = [x, y];
    if (here !== column) { flush(); column = here; first = low = high = p; }
    last = p;
    if (y < low[1]) low = p;
    if (y > high[1]) high = p;
  };
  let held = NaN;
  for (let i = Math.max(from, 0); i < to && i < s.t.length; i++) {
    const v = s.v[i];
    if (Number.isNaN(v)) { flush(); open = false; held = NaN; continue; }
    const x = X(s.t[i]), y = Y(v);
    if (s.kind > 0) {
      if (v === held && i + 1 < to && i + 1 < s.t.length && s.v[i + 1] === v) continue;
      if (!Number.isNaN(held) && v !== held) point(x, Y(held));
    } else if (i > 0 && s.t[i] === s.t[i - 1] && !Number.isNaN(held) && Math.abs(y - Y(held)) > 1 && dashed) {
      flush(); open = false;
      out.jump(x, Y(held), y);
    }
    point(x, y);
    held = v;
  }
  flush();
}
function rowsOf(s) { return [place(s.t, view[0]) - 1, place(s.t, view[1], true) + 1]; }
function extent(p) {
  if (p.lanes) return [0, p.signals.length];
  let low = Infinity, high = -Infinity;
  const whole = view[0] <= D.range[0] && view[1] >= D.range[1];
  for (const s of p.signals) {
    if (whole) { low = Math.min(low, s.low); high = Math.max(high, s.high); continue; }
    const [from, to] = rowsOf(s);
    for (let i = Math.max(from, 0); i < to && i < s.t.length; i++) {
      const v = s.v[i];
      if (v < low && v > -Infinity) low = v;
      if (v > high && v < Infinity) high = v;
    }
  }
  if (low > high) return [0, 1];
  for (const s of p.signals) for (const [, , , weight] of arrowsOf(s)) {
    if (weight * s.a > 0) high = Math.max(high, 0); else low = Math.min(low, 0);
  }
  const size = Math.max(Math.abs(low), Math.abs(high));
  const room = high - low > 1e-9 * size ? .07 * (high - low) : (size ? .1 * size : 1);
  return [low - room, high + room];
}
function arrowsOf(s) {
  if (s.reference) return [];
  s.arrows ??= D.impulses.filter(i => i[1] === s.values);
  return s.arrows.filter(i => i[0] >= view[0] && i[0] <= view[1]);
}
function drawCurves(p, u) {
  const {ctx, bbox} = u, ratio = uPlot.pxRatio;
  const X = t => bbox.left + (t - view[0]) / (view[1] - view[0]) * bbox.width;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineJoin = 'round';
  p.signals.forEach((s, index) => {
    const Y = p.lanes ? lane(p, s, index, u) : scaleY(p, u);
    let path, broken, jumps;
    // Dashes for very many jumps would only blur the curve.
    for (const dashed of [true, false]) {
      path = new Path2D(); broken = new Path2D(); jumps = 0;
      trace(s, ...rowsOf(s), X, Y, {
        move: (x, y) => path.moveTo(x, y), line: (x, y) => path.lineTo(x, y),
        jump: (x, a, b) => { jumps++; broken.moveTo(x, a); broken.lineTo(x, b); },
      }, dashed);
      if (jumps <= 80) break;
    }
    ctx.strokeStyle = stroke(s);
    ctx.lineWidth = 1.7 * ratio;
    ctx.setLineDash(dashes(s).map(d => d * ratio));
    ctx.stroke(path);
    ctx.lineWidth = 1.2 * ratio;
    ctx.setLineDash([3 * ratio, 2.5 * ratio]);
    ctx.stroke(broken);
    ctx.setLineDash([]);
  });
  ctx.restore();
  if (!p.lanes) drawArrows(p, u, X);
}
function scaleY(p, u) {
  const {bbox} = u, [low, high] = p.range;
  return v => bbox.top + (high - v) / (high - low) * bbox.height;
}
/** Booleans and enumerations one above the other. */
function lane(p, s, index, u) {
  const most = s.kind === 2 ? 1 : Math.max(1, s.literals.length - 1), least = s.kind === 2 ? 0 : 1;
  const y = scaleY(p, u), base = p.signals.length - 1 - index;
  return v => y(base + .15 + .65 * (v - least) / most);
}
function drawArrows(p, u, X) {
  const {ctx, bbox} = u, r = uPlot.pxRatio, Y = scaleY(p, u);
  const bottom = bbox.top + bbox.height, zero = Math.min(Math.max(Y(0), bbox.top), bottom);
  const all = p.signals.flatMap(s => arrowsOf(s).map(([t, , order, weight]) => ({s, t, order, weight: weight * s.a})));
  const most = Math.max(...all.map(i => Math.abs(i.weight)));
  ctx.save();
  ctx.font = `${11 * r}px system-ui, sans-serif`;
  ctx.textBaseline = 'middle'; ctx.textAlign = 'left';
  const taken = [];
  for (const {s, t, order, weight} of all) {
    const x = X(t), up = weight > 0 ? -1 : 1;
    const room = (up < 0 ? zero - bbox.top : bottom - zero) - 6 * r;
    const tip = zero + up * Math.max(room * (.35 + .6 * Math.abs(weight) / most), 14 * r);
    ctx.strokeStyle = ctx.fillStyle = stroke(s);
    ctx.lineWidth = 2 * r;
    ctx.beginPath(); ctx.moveTo(x, zero); ctx.lineTo(x, tip - up * 6 * r); ctx.stroke();
    ctx.beginPath(); ctx.moveTo(x, tip); ctx.lineTo(x - 4.5 * r, tip - up * 9 * r); ctx.lineTo(x + 4.5 * r, tip - up * 9 * r); ctx.fill();
    const unit = (D.weights[s.unit] || [])[order - 1] || '';
    const text = `${number(weight, 4)} ${unit}`.trim(), wide = ctx.measureText(text).width;
    const left = x + 8 * r + wide < bbox.left + bbox.width ? x + 8 * r : x - 8 * r - wide;
    // Labels give way to each other downwards; what finds no room is told by the table of events.
    for (let step = 0; step < 5; step++) {
      const y = Math.min(Math.max(tip - up * (4 + 14 * step) * r, bbox.top + 7 * r), bottom - 7 * r);
      if (taken.some(([a, b, c]) => left < b && left + wide > a && Math.abs(y - c) < 12 * r)) continue;
      taken.push([left - 4, left + wide + 4, y]);
      ctx.globalAlpha = .85; ctx.fillStyle = ink('--paper'); ctx.fillRect(left - 2 * r, y - 7 * r, wide + 4 * r, 14 * r);
      ctx.globalAlpha = 1; ctx.fillStyle = stroke(s); ctx.fillText(text, left, y);
      break;
    }
  }
  ctx.restore();
}

// ---- modes ---------------------------------------------------------------------------------------------------------------

let spans = [], modeColor = new Map();
async function loadModes() {
  if (!D.modes) return;
  const [times, numbers] = await Promise.all(D.modes.map(column));
  for (let i = 0; i < times.length; i++) {
    const mode = numbers[i], stop = i + 1 < times.length ? times[i + 1] : D.range[1];
    if (!modeColor.has(mode)) modeColor.set(mode, modeColor.size);
    if (stop > times[i]) spans.push([times[i], stop, mode]);
  }
}
const band = mode => {
  const at = modeColor.get(mode) ?? 0, many = BANDS.light.length;
  return BANDS[theme()][at < many ? at : 1 + (at - 1) % (many - 1)];
};
const modeName = mode => D.names[mode] ?? `mode ${mode}`;
/** The modes in a stretch of pixels: wide ones one by one, and hatched stretches where they change too quickly to be seen. */
function bandsIn(X, narrow) {
  const result = [];
  let first = 0, end = spans.length;
  while (first < end) { const m = (first + end) >> 1; if (spans[m][1] <= view[0]) first = m + 1; else end = m; }
  for (let i = first; i < spans.length && spans[i][0] < view[1]; i++) {
    const [start, stop, mode] = spans[i];
    const from = X(Math.max(start, view[0])), to = X(Math.min(stop, view[1]));
    const last = result.at(-1);
    if (to - from >= narrow) result.push({from, to, mode, count: 1});
    else if (last && last.count > 1 && last.mode === -1) { last.to = to; last.count++; }
    else result.push({from, to, mode: -1, single: mode, count: 1});
    const hatched = result.at(-1);
    if (hatched.mode === -1 && hatched.count === 1) hatched.count = 2, hatched.real = 1; else if (hatched.mode === -1) hatched.real++;
  }
  return result;
}
let hatch = {};
function hatching(ctx, ratio) {
  const key = theme() + ratio;
  if (!hatch[key]) {
    const tile = el('canvas', {width: 8 * ratio, height: 8 * ratio}), c = tile.getContext('2d');
    c.strokeStyle = ink('--faint'); c.globalAlpha = .55; c.lineWidth = ratio;
    c.beginPath();
    for (const k of [-1, 0, 1]) { c.moveTo(k * 8 * ratio, 8 * ratio); c.lineTo((k + 1) * 8 * ratio, 0); }
    c.stroke();
    hatch[key] = ctx.createPattern(tile, 'repeat');
  }
  return hatch[key];
}
function drawBands(u) {
  const {ctx, bbox} = u, r = uPlot.pxRatio;
  const X = t => bbox.left + (t - view[0]) / (view[1] - view[0]) * bbox.width;
  ctx.save();
  for (const b of bandsIn(X, 5 * r)) {
    ctx.fillStyle = b.mode < 0 ? hatching(ctx, r) : band(b.mode);
    if (b.mode >= 0 && modeColor.get(b.mode) === 0) continue;
    ctx.globalAlpha = b.mode < 0 ? .45 : 1;
    ctx.fillRect(b.from, bbox.top, Math.max(b.to - b.from, r), bbox.height);
  }
  ctx.restore();
}
function drawStrip() {
  const canvas = find('strip');
  if (!canvas) return;
  const r = devicePixelRatio, width = find('plots').clientWidth;
  canvas.width = width * r; canvas.height = 24 * r; canvas.style.width = width + 'px';
  const ctx = canvas.getContext('2d'), left = AXIS * r, wide = (width - AXIS - EDGE) * r;
  const X = t => left + (t - view[0]) / (view[1] - view[0]) * wide;
  ctx.font = `${11.5 * r}px system-ui, sans-serif`;
  ctx.textBaseline = 'middle'; ctx.textAlign = 'center';
  for (const b of bandsIn(X, 5 * r)) {
    ctx.fillStyle = b.mode < 0 ? hatching(ctx, r) : band(b.mode);
    ctx.fillRect(b.from, 2 * r, Math.max(b.to - b.from, r), 20 * r);
    ctx.fillStyle = ink('--ink');
    const texts = b.mode < 0 ? [`${b.real} short modes`, String(b.real)] : [modeName(b.mode), String(b.mode)];
    const text = texts.find(t => ctx.measureText(t).width + 8 * r < b.to - b.from);
    if (text) {
      if (b.mode < 0) { const w = ctx.measureText(text).width + 8 * r; ctx.fillStyle = ink('--paper'); ctx.fillRect((b.from + b.to - w) / 2, 4 * r, w, 16 * r); ctx.fillStyle = ink('--ink'); }
      ctx.fillText(text, (b.from + b.to) / 2, 12 * r);
    }
  }
  ctx.strokeStyle = ink('--line');
  ctx.strokeRect(left, 2 * r, wide, 20 * r);
}

// ---- panels --------------------------------------------------------------------------------------------------------------

function arrange() {
  const host = find('plots');
  if (D.modes && !find('strip')) host.append(el('canvas', {id: 'strip', title: 'Modes'}));
  if (!find('clock')) host.append(el('div', {id: 'clock'}));
  for (const p of panels) {
    if (!p.node) { p.legend = el('div', {className: 'legend'}); p.box = el('div'); p.node = el('div', {className: 'panel'}, p.legend, p.box); }
    host.append(p.node);
    legend(p);
    build(p);
  }
  drawStrip();
  list();
  values();
}
function legend(p) {
  p.chips = p.signals.map(s => {
    const swatch = el('span', {className: 'swatch'});
    swatch.style.background = stroke(s);
    const output = el('output');
    const unit = el('small', {textContent: s.unit});
    const remove = el('button', {textContent: '×', title: `Hide ${s.name}`, ariaLabel: `Hide ${s.name}`, onclick: () => show(s, false)});
    const node = el('span', {className: 'chip', title: s.about}, swatch, el('span', {className: 'name', textContent: s.name}), output, unit, remove);
    return {s, output, node};
  });
  p.legend.replaceChildren(...p.chips.map(chip => chip.node));
}
const heightOf = p => (p === panels.at(-1) ? 18 : 0) + (p.lanes ? 40 + 30 * p.signals.length : panels.length <= 2 ? 230 : 175);
function build(p) {
  p.plot?.destroy();
  p.range = extent(p);
  const axis = {stroke: ink('--ink'), grid: {stroke: ink('--grid'), width: 1}, ticks: {stroke: ink('--line'), width: 1}, font: '12px system-ui, sans-serif'};
  const lanes = {
    splits: () => p.signals.map((_, i) => p.signals.length - 1 - i + .45),
    values: () => p.signals.map(s => s.kind === 2 ? '' : ''), grid: {show: false}, ticks: {show: false},
  };
  const unit = {label: p.unit ? `[${p.unit}]` : '', labelSize: 16, labelFont: '12px system-ui, sans-serif', values: (u, at) => at.map(v => Math.abs(v) >= 1e5 || v && Math.abs(v) < 1e-4 ? number(v, 4) : String(Number(v.toPrecision(10))).replace('-', '−'))};
  p.plot = new uPlot({
    width: find('plots').clientWidth, height: heightOf(p), padding: [6, EDGE, 0, 0], legend: {show: false},
    cursor: {y: false, points: {show: false}, drag: {x: true, y: false, setScale: false}, sync: {key: 'saltus', scales: ['x', null]}, bind: {dblclick: () => () => setView(D.range)}},
    scales: {x: {time: false, range: () => view}, y: {range: () => p.range}},
    axes: [{...axis, ...(p === panels.at(-1) ? {label: 'time [s]', labelSize: 18} : {}), size: 30, labelFont: '12px system-ui, sans-serif'}, {...axis, size: AXIS - (p.lanes ? 0 : 16), ...(p.lanes ? lanes : unit)}],
    series: [{}, {stroke: 'transparent', points: {show: false}}],
    hooks: {
      drawAxes: [], drawClear: [drawBands], draw: [u => drawCurves(p, u)],
      setSelect: [u => {
        if (u.select.width < 4) return;
        const [from, to] = [u.select.left, u.select.left + u.select.width].map(x => u.posToVal(x, 'x'));
        u.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
        setView([from, to]);
      }],
      setCursor: [u => {
        if (u.cursor.left < 0) return;
        const event = u.cursor.event;
        // Scrolling moves the curves under the mouse: that is no wish to move the cursor. Other panels follow the mouse by themselves, and
        // are put to where the cursor is.
        const stands = !event || event.movementX === 0 && event.movementY === 0;
        if (!stands) setCursor(snap(u.posToVal(u.cursor.left, 'x'), u));
        else if (cursor != null) moveCursor(u);
      }],
    },
  }, [view, p.range], p.box);
}
function redraw() {
  for (const p of panels) { p.range = extent(p); p.plot.setData([view, p.range]); }
  drawStrip();
  values();
}
function setView([from, to]) {
  const span = D.range[1] - D.range[0], least = 1e-13 * Math.max(Math.abs(D.range[0]), Math.abs(D.range[1]), span);
  if (!(to - from > least)) return;
  view = [Math.max(from, D.range[0]), Math.min(to, D.range[1])];
  if (!(view[1] - view[0] > least)) view = D.range.slice();
  redraw();
}
function zoom(factor, about = cursor ?? (view[0] + view[1]) / 2) {
  setView([about + (view[0] - about) * factor, about + (view[1] - about) * factor]);
}

// ---- cursor --------------------------------------------------------------------------------------------------------------

const instants = [...new Set(D.events.map(e => e[0]))];
/** Within a few pixels of an event the cursor is at the event. */
function snap(time, u) {
  const at = place(instants, time), near = [instants[at - 1], instants[at]].filter(t => t !== undefined);
  const width = 4 * (view[1] - view[0]) / (u.bbox.width / uPlot.pxRatio);
  return near.find(t => Math.abs(t - time) <= width) ?? time;
}
/** The line of a panel to where the cursor is. */
function moveCursor(u) { u.setCursor({left: u.valToPos(cursor, 'x'), top: 10}, false); }
function setCursor(time) {
  cursor = time;
  for (const p of panels) moveCursor(p.plot);
  values();
  scene?.at(time);
}
function values() {
  const clock = find('clock');
  if (cursor == null) { clock.textContent = 'Move over the curves for values; drag to zoom, double-click for all.'; return; }
  clock.replaceChildren('t = ', el('b', {textContent: number(cursor, 9)}), ' s');
  const mode = spans.filter(s => s[0] <= cursor && cursor <= s[1]).map(s => s[2]);
  if (mode.length) clock.append(' · ', mode.map(modeName).join(' → '));
  for (const p of panels) for (const {s, output} of p.chips) {
    const [left, right] = limits(s, cursor);
    output.dataset.left = left; output.dataset.right = right;
    const same = Object.is(left, right);
    output.replaceChildren(valueText(s, left), ...(same ? [] : [el('i', {textContent: ' → '}), valueText(s, right)]));
  }
}
/** The next row, or the next event, of what is shown. */
function step(direction, events) {
  const times = events ? instants : panels[0]?.signals[0]?.t;
  if (!times?.length) return;
  const at = cursor ?? (direction > 0 ? view[0] : view[1]);
  const next = direction > 0 ? place(times, at, true) : place(times, at) - 1;
  if (next < 0 || next >= times.length) return;
  const time = times[next];
  if (time < view[0] || time > view[1]) { const half = (view[1] - view[0]) / 2; setView([time - half, time + half]); }
  setCursor(time);
}
document.addEventListener('keydown', event => {
  if (event.target.matches('input,select,textarea')) { if (event.key === 'Escape') event.target.blur(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = {
    ArrowRight: () => step(1, event.shiftKey), ArrowLeft: () => step(-1, event.shiftKey),
    n: () => step(1, true), p: () => step(-1, true), '+': () => zoom(.5), '=': () => zoom(.5), '-': () => zoom(2),
    0: () => setView(D.range), Escape: () => setView(D.range), '/': () => find('search').focus(), d: toggleTheme,
    ' ': () => scene?.toggle(),
  };
  const act = keys[event.key];
  if (act && !(event.key === ' ' && !scene) && !(event.key === ' ' && event.target.matches('button,summary'))) { event.preventDefault(); act(); }
});
find('plots').addEventListener('wheel', event => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  zoom(event.deltaY > 0 ? 1.25 : .8, cursor ?? undefined);
}, {passive: false});

// ---- list of signals -----------------------------------------------------------------------------------------------------

const MOST_LISTED = 300;
function list() {
  const words = find('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = s => words.every(word => s.lower.includes(word) || s.unit.toLowerCase() === word);
  const found = signals.filter(fits).sort((a, b) => isShown(b) - isShown(a) || a.minor - b.minor || a.id - b.id);
  const items = found.slice(0, MOST_LISTED).map(s => {
    const box = el('input', {type: 'checkbox', checked: isShown(s), onchange: () => show(s, box.checked)});
    const swatch = el('span', {className: 'swatch'});
    if (box.checked) swatch.style.background = stroke(s);
    return el('li', {}, el('label', {title: s.about}, box, swatch, el('span', {className: 'name', textContent: s.name}), el('small', {textContent: s.unit})));
  });
  const more = found.length - items.length;
  if (more > 0) items.push(el('li', {className: 'note', textContent: `and ${more} more: search for them`}));
  find('list').replaceChildren(...items);
  find('count').textContent = `${found.length} of ${signals.length} signals`;
}

// ---- tables --------------------------------------------------------------------------------------------------------------

const PAGE = 100;
let page = 0;
function eventTable() {
  const body = document.querySelector('#events tbody');
  if (!body) return;
  const tools = find('event-tools');
  const filter = el('input', {type: 'search', placeholder: 'Filter events', ariaLabel: 'Filter events', oninput: () => { page = 0; fill(); }});
  const older = el('button', {textContent: '‹', title: 'Earlier events', onclick: () => { page--; fill(); }});
  const newer = el('button', {textContent: '›', title: 'Later events', onclick: () => { page++; fill(); }});
  const where = el('span', {className: 'note'});
  tools.append(filter, older, newer, where);
  const texts = D.events.map(e => JSON.stringify(e).toLowerCase());
  const fill = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = D.events.filter((_, i) => words.every(word => texts[i].includes(word)));
    page = Math.max(0, Math.min(page, Math.ceil(found.length / PAGE) - 1));
    const first = page * PAGE, shown = found.slice(first, first + PAGE);
    where.textContent = found.length ? `${first + 1}–${first + shown.length} of ${found.length}` : 'none';
    older.disabled = page === 0; newer.disabled = first + PAGE >= found.length;
    body.replaceChildren(...shown.map(eventRow));
  };
  fill();
  if (D.events.length <= PAGE) find('event-note').textContent = find('event-note').textContent.replace(/^The first.*?events\./, '');
}
function lines(texts, tag = 'span') { return texts.flatMap((text, i) => [...(i ? [el('br')] : []), el(tag, {textContent: text})]); }
function eventRow(e) {
  const [time, from, to, triggers, impulses, jumps] = e;
  const causes = triggers.flatMap(([text, file, line], i) => {
    const source = D.files.indexOf(file);
    const short = file && ` ${file.split(/[\\/]/).pop()}:${line}`;
    const where = file && (source < 0 ? el('small', {textContent: short, title: file})
      : el('a', {href: `#s${source}-${line}`, textContent: short, title: file, onclick: event => { event.stopPropagation(); find('source').open = true; }}));
    return [...(i ? [el('br')] : []), el('code', {textContent: text}), ...(where ? [where] : [])];
  });
  const go = () => { focusEvent(time); row.parentNode.querySelectorAll('.here').forEach(r => r.classList.remove('here')); row.classList.add('here'); };
  const mode = from === to ? String(to) : `${from} → ${to}`;
  const row = el('tr', {className: 'go', tabIndex: 0, title: 'Zoom to this event', onclick: go, onkeydown: event => { if (event.key === 'Enter') go(); }},
    el('td', {textContent: number(time, 9)}), el('td', {textContent: mode, title: `${modeName(from)} → ${modeName(to)}`}),
    el('td', {}, ...causes), el('td', {}, el('div', {className: 'many'}, ...lines(impulses))), el('td', {}, el('div', {className: 'many'}, ...lines(jumps))));
  return row;
}
/** Zooms so that an event is seen with its nearest neighbours. */
function focusEvent(time) {
  const at = instants.indexOf(time), gaps = [instants[at + 1] - time, time - instants[at - 1]].filter(gap => gap > 0);
  const span = D.range[1] - D.range[0], half = Math.max(Math.min(span / 40, 1.5 * Math.min(...gaps)), 1e-9 * span);
  setView([time - half, time + half]);
  setCursor(time);
  find('plots').scrollIntoView({block: 'nearest'});
}
function comparisonTable() {
  document.querySelectorAll('#comparison tbody tr').forEach(row => {
    row.classList.add('go');
    row.tabIndex = 0;
    const go = async () => {
      const name = row.cells[0].textContent;
      const first = signals.find(s => s.name === name);
      if (!first) return;
      panels.forEach(drop); panels = []; colors.clear();
      await Promise.all([0, 1, 2].map(k => load(signals[first.id + k])));
      panels = [[0, 1], [2]].map(ks => ({unit: first.unit, lanes: ks.length > 1 && isLane(first), signals: ks.map(k => signals[first.id + k])}));
      arrange();
      setCursor(Number(row.dataset.t));
      find('plots').scrollIntoView({block: 'nearest'});
    };
    row.onclick = go;
    row.onkeydown = event => { if (event.key === 'Enter') go(); };
  });
}
function modeSwatches() {
  document.querySelectorAll('#modes tr[data-mode]').forEach(row => {
    row.cells[0].style.background = modeColor.has(+row.dataset.mode) ? band(+row.dataset.mode) : '';
  });
}

// ---- the page ------------------------------------------------------------------------------------------------------------

let scene = null;
function setTheme(name) {
  root.dataset.theme = name;
  for (const p of panels) { legend(p); build(p); }
  drawStrip(); list(); values(); modeSwatches(); scene?.draw();
}
/** What the editor around the page shows, or else what the system prefers. */
function preferredTheme() {
  const editor = document.body.dataset.vscodeThemeKind;
  const dark = editor ? /dark$|contrast$/.test(editor) : matchMedia('(prefers-color-scheme: dark)').matches;
  return dark ? 'dark' : 'light';
}
function toggleTheme() { setTheme(theme() === 'dark' ? 'light' : 'dark'); }
function chrome() {
  const button = (text, title, act) => el('button', {textContent: text, title, onclick: act});
  find('tools').append(
    button('All', 'Show all of time (0)', () => setView(D.range)), button('+', 'Closer (+)', () => zoom(.5)), button('−', 'Farther (-)', () => zoom(2)),
    button('‹ event', 'Cursor to the event before (p)', () => step(-1, true)), button('event ›', 'Cursor to the next event (n)', () => step(1, true)),
    button('Dark / light', 'Other colours (d)', toggleTheme), button('Print', 'Print', () => print()));
  find('signals').append(
    el('input', {id: 'search', type: 'search', placeholder: 'Search signals  ( / )', ariaLabel: 'Search signals', oninput: list}),
    el('div', {id: 'count', className: 'note'}), el('ul', {id: 'list'}));
}
async function begin() {
  root.dataset.theme = preferredTheme();
  if (!('DecompressionStream' in window)) {
    find('plots').textContent = 'This browser is too old to unpack the curves (it has no DecompressionStream).';
    return;
  }
  chrome();
  await loadModes();
  for (const ids of D.panels) {
    const chosen = await Promise.all(ids.map(id => load(signals[id])));
    panels.push({unit: chosen[0].unit, lanes: isLane(chosen[0]), signals: chosen});
  }
  arrange();
  eventTable();
  comparisonTable();
  modeSwatches();
  if (D.scene) scene = await makeScene(D.scene, {signals, load, limits, ink, el, find, stroke: () => LINES[theme()], range: D.range, number, setCursor});
  let wide = innerWidth;
  addEventListener('resize', () => { if (innerWidth !== wide) { wide = innerWidth; resize(); } });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => setTheme(preferredTheme()));
  new MutationObserver(() => setTheme(preferredTheme())).observe(document.body, {attributeFilter: ['data-vscode-theme-kind']});
  let before;
  addEventListener('beforeprint', () => { before = theme(); setTheme('light'); document.querySelectorAll('details').forEach(d => { d.dataset.was = d.open; d.open = true; }); });
  addEventListener('afterprint', () => { setTheme(before); document.querySelectorAll('details').forEach(d => { d.open = d.dataset.was === 'true'; }); });
  root.dataset.ready = 'yes';
}
function resize() {
  const width = find('plots').clientWidth;
  for (const p of panels) p.plot.setSize({width, height: heightOf(p)});
  drawStrip();
  scene?.draw();
}
// For tests and for the curious.
window.saltus = {scene: () => scene, signals, load, limits, trace, decode, view: () => view, cursor: () => cursor, setView, setCursor, spans: () => spans, bandsIn, panels: () => panels};
begin();
})();
