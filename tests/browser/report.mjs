// Reports in a real browser: node tests/browser/report.mjs PROGRAM
import {readFileSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {assert, browser, csv, equal, inside, open, picture, saltus} from './browser.mjs';

const program = process.argv[2] ?? 'target/debug/saltus';
const examples = path.resolve(import.meta.dirname, '../../examples');
const chromium = await browser();
if (!chromium) process.exit(0);

const tests = {
  async 'what a page holds is what the result holds'() {
    saltus(program, ['simulate', `${examples}/MotorAndLoad.mo`, '--report', 'm.html', '-o', 'm.csv']);
    assert(statSync(inside('m.html')).size <= 150000, `the page has ${statSync(inside('m.html')).size} bytes`);
    const result = csv('m.csv');
    const {page, close} = await open(chromium, 'm.html');
    const found = await page.evaluate(async () => {
      const all = [];
      for (const s of window.saltus.signals) { await window.saltus.load(s); all.push([s.name, [...s.t], [...s.v]]); }
      return all;
    });
    assert(found.length > 20, `${found.length} signals`);
    for (const [name, times, values] of found) {
      equal(times, result.get('time'), `times of ${name}`);
      equal(values, result.get(name), `values of ${name}`);
    }
    await picture(page, 'motor-light');
    await picture(page, 'motor-whole', true);
    await close();
  },

  async 'zoom, cursor, events, search, keyboard'() {
    const result = csv('m.csv'), time = result.get('time');
    const {page, close} = await open(chromium, 'm.html');
    const view = () => page.evaluate(() => window.saltus.view());
    const before = await view();
    const over = await page.locator('.u-over').first().boundingBox();
    // A drag from a half to three quarters of the width.
    await page.mouse.move(over.x + over.width * .5, over.y + 40);
    await page.mouse.down();
    await page.mouse.move(over.x + over.width * .75, over.y + 60, {steps: 5});
    await page.mouse.up();
    const zoomed = await view();
    assert(Math.abs(zoomed[0] - 250) < 3 && Math.abs(zoomed[1] - 375) < 3, `zoomed to ${zoomed}`);
    // Near the event the cursor is at it and shows both limits, in every panel.
    const at = over.x + over.width * (300 - zoomed[0]) / (zoomed[1] - zoomed[0]);
    await page.mouse.move(at + 2, over.y + 50);
    equal(await page.evaluate(() => window.saltus.cursor()), 300, 'cursor');
    const left = time.indexOf(300), right = time.lastIndexOf(300);
    const chips = await page.locator('.chip').evaluateAll(all => all.map(chip => {
      const output = chip.querySelector('output');
      return [chip.querySelector('.name').textContent, Number(output.dataset.left), Number(output.dataset.right), output.textContent];
    }));
    assert(chips.length >= 3, `${chips.length} curves are shown`);
    for (const [name, a, b, text] of chips) {
      equal([a, b], [result.get(name)[left], result.get(name)[right]], `${name} at 300`);
      equal(text.includes('→'), !Object.is(a, b), `${name} shows ${text}`);
    }
    // Between rows the value is the line between them; at a row it is the row.
    const row = time.findIndex(t => t > 320);
    await page.evaluate(t => window.saltus.setCursor(t), time[row]);
    const shown = await page.locator('.chip').first().evaluate(chip => [chip.querySelector('.name').textContent, Number(chip.querySelector('output').dataset.left)]);
    equal(shown[1], result.get(shown[0])[row], `${shown[0]} at a row`);
    await page.mouse.dblclick(over.x + 200, over.y + 50);
    equal(await view(), before, 'a double click shows all');
    // The row of an event leads to it.
    const events = page.locator('#events tbody tr');
    const count = await events.count();
    await events.nth(count - 1).click();
    equal(await page.evaluate(() => window.saltus.cursor()), 300, 'cursor at the event');
    const near = await view();
    assert(near[0] < 300 && near[1] > 300 && near[1] - near[0] < 60, `zoomed to ${near}`);
    // The curves come under the mouse, which stands: the lines of all panels stay at the event.
    await page.waitForTimeout(300);
    const lines = await page.evaluate(() => window.saltus.panels().map(p => Math.round(p.plot.cursor.left - p.plot.valToPos(300, 'x'))));
    equal(lines, lines.map(() => 0), 'lines at the event');
    equal(await page.evaluate(() => window.saltus.cursor()), 300, 'the cursor stays at the event');
    await picture(page, 'motor-event');
    // Keys.
    await page.keyboard.press('0');
    equal(await view(), before, 'the key 0 shows all');
    await page.keyboard.press('p');
    equal(await page.evaluate(() => window.saltus.cursor()), 100, 'the event before');
    await page.keyboard.press('ArrowRight');
    equal(await page.evaluate(() => window.saltus.cursor()), time.find(t => t > 100), 'the next row');
    await page.keyboard.press('+');
    assert((await view())[1] - (await view())[0] < 300, 'the key + goes closer');
    await page.keyboard.press('/');
    await page.keyboard.type('resistor i');
    const names = await page.locator('#list .name').allTextContents();
    assert(names.length >= 1 && names.every(name => name.includes('resistor')), `found ${names}`);
    const hidden = await page.locator('#list input:not(:checked)').first();
    const panels = await page.locator('.chip').count();
    await hidden.click();
    await page.waitForFunction(n => document.querySelectorAll('.chip').length === n + 1, panels);
    await page.locator('.chip button').first().click();
    await page.waitForFunction(n => document.querySelectorAll('.chip').length === n, panels);
    // The line of a trigger.
    await page.locator('#events a').first().click();
    assert(await page.locator('.source .hit').first().isVisible(), 'the line of the trigger is shown');
    await close();
  },

  async 'dark, narrow, printed, without scripts'() {
    const {page, close} = await open(chromium, 'm.html', {colorScheme: 'dark'});
    equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark', 'theme');
    await page.evaluate(() => window.saltus.setCursor(300));
    await picture(page, 'motor-dark');
    await page.keyboard.press('d');
    equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light', 'theme after the key');
    await page.setViewportSize({width: 480, height: 800});
    await page.waitForTimeout(200);
    assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'a narrow page does not scroll sideways');
    await picture(page, 'motor-narrow');
    await page.setViewportSize({width: 1000, height: 800});
    await page.emulateMedia({media: 'print'});
    equal(await page.locator('aside').isVisible(), false, 'the list is not printed');
    const pdf = await page.pdf({format: 'A4'});
    assert(pdf.subarray(0, 5).toString() === '%PDF-' && pdf.length > 20000, `${pdf.length} bytes are printed`);
    if (process.env.SALTUS_SCREENSHOTS) writeFileSync(path.join(process.env.SALTUS_SCREENSHOTS, 'motor.pdf'), pdf);
    await close();
    const plain = await open(chromium, 'm.html', {javaScriptEnabled: false});
    assert((await plain.page.locator('noscript table tr').count()) > 20, 'there is a table of signals');
    assert(await plain.page.locator('#events td').first().isVisible(), 'there is a table of events');
    await picture(plain.page, 'motor-plain');
    await plain.close();
  },

  async 'names that try to get out'() {
    const names = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "\"><svg onload=alert(3)>", "${alert(4)}", "<!--"];
    const text = ['model H "<b onclick=alert(5)>"',
      ...names.map((name, at) => `  Real '${name.replaceAll('"', '\\"')}'(unit = "<i>", start = ${at}, fixed = true) "</td><script>alert(6)</script>";`),
      'equation',
      ...names.map((name, at) => `  der('${name.replaceAll('"', '\\"')}') = if '${name.replaceAll('"', '\\"')}' > ${at + .5} then 0 else 1 "</pre>";`),
      'end H;'].join('\n');
    writeFileSync(inside('H.mo'), text);
    saltus(program, ['simulate', 'H.mo', '--report', 'h.html', '-o', 'h.csv']);
    saltus(program, ['compare', 'h.csv', 'h.csv', '--report', 'hc.html']);
    for (const name of ['h.html', 'hc.html']) {
      const {page, close} = await open(chromium, name);
      equal(await page.locator('img, svg:not(.graph svg), iframe, object, [onclick], [onerror], i:not(output i, .source i)').count(), 0, `strangers in ${name}`);
      equal(await page.locator('script').evaluateAll(all => all.filter(s => !s.type).length), 2, `scripts of ${name}`);
      const listed = await page.locator('#list .name').allTextContents();
      assert(listed.some(listed => listed.includes('</script>')), `names are shown as they are: ${listed}`);
      // Even a script that gets hold of the page cannot add markup.
      const refused = await page.evaluate(() => { try { document.body.innerHTML += '<b>'; return false; } catch { return true; } });
      assert(refused, 'the page takes no markup from scripts');
      await page.evaluate(() => window.saltus.setCursor(.5));
      await picture(page, name.replace('.html', '-hostile'));
      await page.context().close();
      void close;
    }
  },

  async 'ten thousand signals, a million rows, many modes'() {
    writeFileSync(inside('Wide.mo'), 'model Wide "Many"\n  Real x[10000](each start = 1, each fixed = true);\nequation\n  for i in 1:10000 loop der(x[i]) = -x[i]*i/10000; end for;\nannotation(experiment(StopTime = 1, Interval = 0.1));\nend Wide;');
    saltus(program, ['simulate', 'Wide.mo', '--report', 'w.html']);
    const wide = await open(chromium, 'w.html');
    await wide.page.fill('#search', 'x[9876]');
    assert((await wide.page.locator('#count').textContent()).startsWith('2 of 20000'), await wide.page.locator('#count').textContent());
    equal((await wide.page.locator('#list .name').allTextContents())[0], 'x[9876]', 'found');
    await wide.close();
    const rows = 1000000, text = ['time,x,y'];
    for (let i = 0; i < rows; i++) text.push(`${i * 1e-3},${i === 543210 ? 77 : Math.sin(i / 1000).toFixed(3)},${i % 7}`);
    writeFileSync(inside('big.csv'), text.join('\n') + '\n');
    saltus(program, ['plot', 'big.csv', 'x', 'y', '--report', 'big.html']);
    const big = await open(chromium, 'big.html');
    const peak = await big.page.evaluate(() => {
      const {signals, trace} = window.saltus, points = [];
      trace(signals[0], 0, signals[0].t.length, t => t, v => v, {move: (x, y) => points.push(y), line: (x, y) => points.push(y), jump() {}});
      return [Math.max(...points), points.length, signals[0].t.length];
    });
    equal(peak[0], 77, 'the peak is drawn');
    assert(peak[1] <= 4004 && peak[2] >= 100000, `${peak[1]} points of ${peak[2]}`);
    await picture(big.page, 'big');
    await big.close();
    saltus(program, ['simulate', `${examples}/electrical/HBridgeMotor.mo`, '--report', 'b.html']);
    const bridge = await open(chromium, 'b.html');
    const bands = await bridge.page.evaluate(() => {
      const [from, to] = window.saltus.view(), all = window.saltus.bandsIn(t => 1000 * (t - from) / (to - from), 5);
      return {spans: window.saltus.spans().length, shown: all.reduce((sum, b) => sum + (b.mode < 0 ? b.real : 1), 0)};
    });
    assert(bands.spans > 100, `${bands.spans} spans`);
    equal(bands.shown, bands.spans, 'every span of a mode is drawn or counted in a hatched stretch');
    await picture(bridge.page, 'bridge');
    await bridge.close();
  },

  async 'the film shows what the rows say'() {
    saltus(program, ['simulate', `${examples}/mechanics/TriplePendulum.mo`, '--report', 'f.html', '-o', 'f.csv']);
    const result = csv('f.csv'), times = result.get('time');
    const {page, close} = await open(chromium, 'f.html');
    await page.locator('#scene canvas').waitFor();
    await page.locator('#scene input[type=checkbox]').uncheck();
    // Where the discs of the points are drawn: the middle of the dots of their colour.
    const discs = () => page.evaluate(() => {
      const COLORS = [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [185, 127, 0], [58, 155, 209], [68, 68, 68]];
      const scene = window.saltus.scene(), canvas = document.querySelector('#scene canvas'), t = scene.time();
      const copy = Object.assign(document.createElement('canvas'), {width: canvas.width, height: canvas.height}).getContext('2d', {willReadFrequently: true});
      copy.drawImage(canvas, 0, 0);
      const {data, width, height} = copy.getImageData(0, 0, canvas.width, canvas.height);
      return scene.shapes.flatMap((shape, at) => {
        if (shape.k !== 'Point') return [];
        const color = COLORS[at % COLORS.length];
        let [count, x, y] = [0, 0, 0];
        for (let i = 0; i < width * height; i++) {
          if (color.every((part, k) => Math.abs(data[4 * i + k] - part) < 3)) { count++; x += i % width; y += Math.floor(i / width); }
        }
        return [{name: shape.c, x: scene.value(shape.x, t), y: scene.value(shape.y, t), across: x / count, down: y / count, count, t}];
      });
    });
    const seen = [];
    for (const part of [0, .2, .45, .7, 1]) {
      const time = times[Math.round(part * (times.length - 1))];
      await page.evaluate(t => window.saltus.setCursor(t), time);
      seen.push(...await discs());
    }
    const points = new Set(seen.map(disc => disc.name));
    assert(points.size >= 2 && seen.every(disc => disc.count > 30), JSON.stringify(seen));
    // One scale for both directions and all points and times.
    const far = Math.max(...seen.map(disc => disc.x)) - Math.min(...seen.map(disc => disc.x));
    const [left, right] = [seen.reduce((a, b) => a.x < b.x ? a : b), seen.reduce((a, b) => a.x > b.x ? a : b)];
    const scale = (right.across - left.across) / far;
    for (const disc of seen) {
      const [x, y] = [left.across + scale * (disc.x - left.x), left.down - scale * (disc.y - left.y)];
      assert(Math.hypot(disc.across - x, disc.down - y) < 3, `${JSON.stringify(disc)} is not at ${x}, ${y}`);
      const row = times.lastIndexOf(disc.t);
      const columns = [...result].filter(([, values]) => Math.abs(values[row] - disc.x) < 1e-12);
      assert(columns.length > 0, `no column is ${disc.x} at ${disc.t}`);
    }
    await picture(page, 'film');
    // The slider is a clock, and so is the film.
    await page.locator('#scene input[type=range]').fill('500');
    equal(await page.evaluate(() => window.saltus.cursor()), (times[0] + times.at(-1)) / 2, 'the middle of the slider');
    const time = () => page.evaluate(() => window.saltus.scene().time());
    const [before, button] = [await time(), page.locator('#scene button').first()];
    await button.click();
    await page.waitForFunction(t => window.saltus.scene().time() > t, before);
    equal(await page.evaluate(() => window.saltus.cursor() >= window.saltus.scene().time() - .5), true, 'the cursor goes along');
    await button.click();
    const stopped = await time();
    await page.waitForTimeout(200);
    equal(await time(), stopped, 'paused');
    await close();
  },

  async 'comparison'() {
    saltus(program, ['simulate', `${examples}/MotorAndLoad.mo`, '-o', 'o.csv', '--set', 'load.J=0.5']);
    saltus(program, ['compare', 'm.csv', 'o.csv', '--report', 'c.html'], 1);
    const {page, close} = await open(chromium, 'c.html');
    assert((await page.locator('#comparison td.bad').count()) > 3, 'variables outside are marked');
    const row = page.locator('#comparison tbody tr', {hasText: /^rotor\.w(outside|within)/}).first();
    await row.click();
    await page.waitForFunction(() => window.saltus.cursor() != null);
    equal(await page.locator('.chip .name').allTextContents(), ['rotor.w', 'rotor.w (reference)', 'rotor.w (difference)'], 'curves');
    const [result, reference, difference] = await page.locator('.chip output').evaluateAll(all => all.map(o => Number(o.dataset.right)));
    assert(Math.abs(result - reference - difference) < 1e-9 * Math.abs(result), `${result} − ${reference} = ${difference}`);
    await picture(page, 'comparison');
    await close();
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok    ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}\n${error.stack ?? error}`);
  }
}
await chromium.close();
process.exit(failed ? 1 : 0);
