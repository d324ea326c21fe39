// The playground in a real browser: node tests/browser/playground.mjs
import {createServer} from 'node:http';
import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {assert, browser, equal, picture} from './browser.mjs';

const folder = path.resolve(import.meta.dirname, '../../target/playground');
if (!existsSync(path.join(folder, 'saltus.wasm'))) {
  console.log('skipped: the playground is not built (playground/build); it was not opened in a browser');
  process.exit(0);
}
const chromium = await browser();
if (!chromium) process.exit(0);

const TYPES = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.wasm': 'application/wasm'};
const server = createServer((request, response) => {
  const name = path.basename(new URL(request.url, 'http://localhost').pathname) || 'index.html', file = path.join(folder, name);
  if (!existsSync(file)) return response.writeHead(404).end();
  response.writeHead(200, {'content-type': TYPES[path.extname(name)] ?? 'text/plain'}).end(readFileSync(file));
}).listen(0, '127.0.0.1');
await new Promise(done => server.once('listening', done));
const home = `http://127.0.0.1:${server.address().port}/`;

/** Opens the page and watches it: errors, dialogs and anything from elsewhere are failures. */
async function open(hash = '', options = {}) {
  const context = await chromium.newContext({viewport: {width: 1400, height: 900}, ...options});
  const page = await context.newPage(), wrong = [];
  page.on('console', message => { if (['error', 'warning'].includes(message.type())) wrong.push(message.text()); });
  page.on('pageerror', error => wrong.push(String(error)));
  page.on('dialog', dialog => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', request => { if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(home)) wrong.push(`loads ${request.url()}`); });
  await page.goto(home + hash);
  await page.waitForSelector('html[data-ready=yes]', {timeout: 120000});
  return {page, wrong, close: async () => { equal(wrong, [], 'the page is quiet'); await context.close(); }};
}
const write = async (page, text) => {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(text);
};
const text = page => page.locator('.cm-content').evaluate(node => [...node.querySelectorAll('.cm-line')].map(line => line.textContent).join('\n'));
const report = async page => {
  const frame = page.frameLocator('#view iframe');
  await frame.locator('html[data-ready=yes]').waitFor({timeout: 60000});
  return page.frames().find(frame => frame.parentFrame() === page.mainFrame());
};
const ended = (page, pattern) => page.waitForFunction(p => new RegExp(p).test(document.getElementById('status').textContent), pattern, {timeout: 60000});

const DECAY = 'model Decay "Goes down"\n  parameter Real k(unit = "1/s") = 2 "Rate";\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -k*x;\nend Decay;';

const tests = {
  async 'the first plot comes soon'() {
    const began = performance.now();
    const {page, close} = await open();
    const loaded = performance.now();
    await page.locator('#run').click();
    const frame = await report(page);
    const took = performance.now() - loaded;
    console.log(`      loaded in ${Math.round(loaded - began)} ms, first plot ${Math.round(took)} ms later`);
    assert(await frame.evaluate(() => window.saltus.signals.length > 20), 'there are signals');
    assert((await page.locator('#status').textContent()).includes('MotorAndLoad ended at t = 500'), await page.locator('#status').textContent());
    await picture(page, 'playground');
    await close();
  },

  async 'edit, see what is wrong, mend it, run'() {
    const {page, close} = await open();
    await write(page, DECAY.replace('-k*x', '-kk*x'));
    const problem = page.locator('#problems li.error').first();
    await problem.waitFor();
    assert((await problem.textContent()).startsWith('5: ') && (await problem.textContent()).includes('kk'), await problem.textContent());
    await page.locator('.cm-lintRange-error').first().waitFor();
    await picture(page, 'playground-error');
    await page.locator('#run').click();
    await ended(page, 'nothing to run');
    assert((await page.locator('#messages pre.error').first().textContent()).includes('kk'), 'the run says the same');
    await write(page, DECAY);
    await page.waitForFunction(() => !document.querySelectorAll('#problems li').length);
    await page.keyboard.press('Control+Enter');
    const frame = await report(page);
    const last = await frame.evaluate(async () => { const s = window.saltus.signals.find(s => s.name === 'x'); await window.saltus.load(s); return s.v.at(-1); });
    assert(Math.abs(last - Math.exp(-2)) < 1e-4, `x(1) = ${last}`);
    await page.fill('#until', '3');
    await page.selectOption('#solver', 'radau');
    await page.locator('#run').click();
    await ended(page, 'Decay ended at t = 3:');
    const download = page.waitForEvent('download');
    await page.locator('#csv').click();
    const csv = readFileSync(await (await download).path(), 'utf8');
    assert(csv.startsWith('time,') && Number(csv.trimEnd().split('\n').at(-1).split(',')[0]) === 3, csv.slice(0, 200));
    await close();
  },

  async 'hover and completion'() {
    const {page, close} = await open();
    await write(page, DECAY);
    await page.locator('.cm-line', {hasText: 'der(x) = -k*x'}).waitFor();
    await page.locator('.t-parameter').first().waitFor();
    await page.locator('.t-parameter').last().hover();
    const about = page.locator('.cm-tooltip .about');
    await about.waitFor();
    assert((await about.textContent()).includes('Rate'), await about.textContent());
    await picture(page, 'playground-hover');
    await page.mouse.move(5, 5);
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await page.keyboard.type('\nSaltus.Elec', {delay: 30});
    const option = page.locator('.cm-tooltip-autocomplete li', {hasText: 'Electrical'});
    await option.first().waitFor();
    await picture(page, 'playground-completion');
    await option.first().click();
    assert((await text(page)).includes('Saltus.Electrical'), await text(page));
    await close();
  },

  async 'a long run shows itself and can be stopped'() {
    const {page, close} = await open();
    await write(page, 'model Endless\n  Real x(start = 1, fixed = true), v(start = 0, fixed = true);\nequation\n  der(x) = v;\n  der(v) = -x;\nannotation(experiment(StopTime = 1e6, Interval = 10));\nend Endless;');
    await page.locator('#run').click();
    await page.locator('#view img').waitFor({timeout: 30000});
    await page.waitForFunction(() => /t = /.test(document.getElementById('status').textContent));
    await picture(page, 'playground-running');
    // The editor answers meanwhile.
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' nonsense');
    await page.locator('#problems li.error').first().waitFor({timeout: 10000});
    await page.locator('#stop').click();
    await ended(page, '^Stopped');
    assert(await page.locator('#stop').isDisabled() && await page.locator('#run').isEnabled(), 'it is over');
    assert(await page.locator('#view img').isVisible(), 'what was there stays');
    // And the next one runs.
    await write(page, DECAY);
    await page.locator('#run').click();
    await report(page);
    await close();
  },

  async 'a loop without rows can be stopped too'() {
    const {page, close} = await open();
    await write(page, 'model Loop\n  function f\n    input Real u;\n    output Real y;\n  algorithm\n    y := 0;\n    while y < 1e300 loop\n      y := y + u*0;\n    end while;\n  end f;\n  Real x = f(time);\nend Loop;');
    await page.locator('#run').click();
    await page.waitForTimeout(300);
    // It may have been refused meanwhile: functions have a limit of their own.
    await page.evaluate(() => document.getElementById('stop').click());
    await ended(page, 'Stopped|failed|nothing');
    await close();
  },

  async 'a model travels in an address'() {
    const {page, close} = await open('', {permissions: ['clipboard-read', 'clipboard-write']});
    const model = DECAY.replace('Goes down', 'Größe ≤ 1 <b>&amp;</b>');
    await write(page, model);
    await page.locator('#share').click();
    await ended(page, 'copied');
    const address = await page.evaluate(() => navigator.clipboard.readText());
    equal(address, page.url(), 'what was copied');
    assert(address.startsWith(`${home}#model=`), address);
    const other = await open(address.slice(home.length));
    equal(await text(other.page), model, 'the model behind the address');
    const shown = () => other.page.evaluate(() => location.href);
    equal(await shown(), address, 'the address stays until the text changes');
    await write(other.page, DECAY);
    equal(await shown(), home, 'the address of a text that was changed');
    await other.close();
    await close();
    for (const bad of ['#model=!!!', '#model=AAAA', '#example=../../etc/passwd', '#model=']) {
      const {page, close} = await open(bad);
      assert((await text(page)).includes('model MotorAndLoad'), `${bad} leads to the first example`);
      await close();
    }
  },

  async 'modes'() {
    const {page, close} = await open('#example=mechanics%2FCupAndBall.mo');
    assert((await text(page)).includes('model CupAndBall'), 'the example is shown');
    await page.locator('#analyze').click();
    await ended(page, 'Modes of CupAndBall');
    assert((await page.locator('#view pre').textContent()).includes('index'), 'modes in words');
    assert(await page.locator('#view img').evaluate(async image => { await image.decode(); return image.naturalWidth > 100; }), 'a picture of them');
    await picture(page, 'playground-modes');
    await page.selectOption('#examples', 'electrical/DiodeBridge.mo');
    await page.locator('#run').click();
    await report(page);
    await ended(page, 'DiodeBridge ended');
    await close();
  },

  async 'names that try to get out'() {
    const names = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "\"><svg onload=alert(3)>", "${alert(4)}", "<!--", "</iframe><script>parent.alert(5)</script>"];
    const quoted = name => `'${name.replaceAll('"', '\\"')}'`;
    const model = ['model H "<b onclick=alert(5)>"',
      ...names.map((name, at) => `  Real ${quoted(name)}(unit = "<i>", start = ${at}, fixed = true) "</td><script>alert(6)</script>";`),
      'equation',
      ...names.map((name, at) => `  der(${quoted(name)}) = if ${quoted(name)} > ${at + .5} then 0 else 1 "</pre>";`),
      'end H;'].join('\n');
    const {page, wrong, close} = await open('', {colorScheme: 'dark'});
    await write(page, model);
    await page.locator('#run').click();
    const frame = await report(page);
    equal(await frame.locator('script').evaluateAll(all => all.filter(s => !s.type).length), 2, 'scripts of the report');
    assert(await frame.evaluate(() => { try { return !parent.document; } catch { return true; } }), 'the report cannot reach the page');
    await picture(page, 'playground-hostile');
    await page.locator('#analyze').click();
    await ended(page, 'Modes of H');
    await write(page, model.replace('end H', "  'oops<img src=x onerror=alert(7)>' = 1;\nend H"));
    await page.locator('#problems li.error').first().waitFor();
    await page.locator('#run').click();
    await ended(page, 'nothing to run');
    equal(await page.locator('#problems img, #messages img, #messages b').count(), 0, 'markup of strangers');
    equal(await page.locator('body script').count(), 0, 'scripts of strangers');
    const refused = await page.evaluate(() => { try { document.body.innerHTML += '<b>'; return false; } catch { return true; } });
    assert(refused, 'the page takes no markup from scripts');
    assert(wrong.splice(0).every(text => text.includes('TrustedHTML')), 'and says so, and nothing else');
    await close();
  },

  async 'nothing leaves the page'() {
    const {page, wrong, close} = await open();
    const refused = await page.evaluate(async () => {
      try { await fetch('https://example.com/'); return false; } catch { return true; }
    });
    assert(refused, 'a request to elsewhere is refused');
    assert(wrong.splice(0).every(text => /Content Security Policy|example\.com/.test(text)), 'and is said');
    await close();
  },

  async 'narrow'() {
    const {page, close} = await open('', {viewport: {width: 420, height: 800}});
    await page.locator('#run').click();
    await report(page);
    assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it does not scroll sideways');
    await picture(page, 'playground-narrow');
    await close();
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  if (process.argv[2] && !name.includes(process.argv[2])) continue;
  try {
    await test();
    console.log(`ok    ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}\n${error.stack ?? error}`);
  }
}
await chromium.close();
server.close();
process.exit(failed ? 1 : 0);
