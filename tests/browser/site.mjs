// The guide as a site, as `.ci/site` builds it: node tests/browser/site.mjs
//
// Every link of every page leads to a page that is there, and to a place on it that is there; every example is runnable: a link to the
// playground finds it in the menu. In a real browser one of them is clicked and run.
import {createServer} from 'node:http';
import {existsSync, readFileSync, readdirSync, statSync} from 'node:fs';
import path from 'node:path';
import {assert, browser, picture} from './browser.mjs';

const root = path.resolve(import.meta.dirname, '../../target/site');
if (!existsSync(path.join(root, 'index.html'))) {
  console.log('skipped: the site is not built (.ci/site)');
  process.exit(0);
}
const pages = readdirSync(root, {recursive: true}).map(name => name.replaceAll('\\', '/'))
  .filter(name => name.endsWith('.html') && !name.startsWith('playground/') && !['404.html', 'toc.html', 'print.html'].includes(name)).sort();
const text = new Map(pages.map(name => [name, readFileSync(path.join(root, name), 'utf8')]));
const anchors = new Map([...text].map(([name, html]) => [name, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]));
const hasPlayground = existsSync(path.join(root, 'playground/saltus.wasm'));
const examples = hasPlayground ? new Set(JSON.parse(readFileSync(path.join(root, 'playground/examples.json'), 'utf8')).map(({path}) => path)) : null;

const wrong = [], runnable = new Set();
let links = 0;
for (const [name, html] of text) {
  for (const [, link] of html.matchAll(/ href="([^"]+)"/g)) {
    if (/^(https?|mailto|data):/.test(link)) continue;
    links++;
    const [file, anchor = ''] = link.replaceAll('&amp;', '&').split('#');
    const target = file ? path.posix.normalize(path.posix.join(path.posix.dirname(name), decodeURIComponent(file))) : name;
    const example = /^example=(.*)$/.exec(anchor);
    if (target === 'playground/index.html') {
      if (!hasPlayground) continue;
      if (example && !examples.has(decodeURIComponent(example[1]))) wrong.push(`${name}: no example ${link}`);
      else if (example) runnable.add(decodeURIComponent(example[1]));
    } else if (!existsSync(path.join(root, target)) || statSync(path.join(root, target)).isDirectory()) wrong.push(`${name}: ${link}`);
    else if (anchor && anchors.has(target) && !anchors.get(target).has(decodeURIComponent(anchor))) wrong.push(`${name}: no place ${link}`);
  }
}
for (const example of examples ?? []) {
  if (!runnable.has(example)) wrong.push(`no page leads to the example ${example}`);
}
if (wrong.length) {
  console.error(`FAILED links of the site:\n${wrong.join('\n')}`);
  process.exit(1);
}
console.log(`ok    ${links} links on ${pages.length} pages, ${runnable.size} examples to run`);

const chromium = hasPlayground ? await browser() : null;
if (!chromium) process.exit(0);
const TYPES = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.wasm': 'application/wasm', '.svg': 'image/svg+xml', '.png': 'image/png'};
const server = createServer((request, response) => {
  const name = decodeURIComponent(new URL(request.url, 'http://localhost').pathname), file = path.join(root, name.endsWith('/') ? `${name}index.html` : name);
  if (!file.startsWith(root) || !existsSync(file)) return response.writeHead(404).end();
  response.writeHead(200, {'content-type': TYPES[path.extname(file)] ?? 'text/plain'}).end(readFileSync(file));
}).listen(0, '127.0.0.1');
await new Promise(done => server.once('listening', done));
try {
  const page = await chromium.newPage({viewport: {width: 1400, height: 900}}), errors = [];
  page.on('pageerror', error => errors.push(String(error)));
  page.on('request', request => { if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith('http://127.0.0.1')) errors.push(`loads ${request.url()}`); });
  await page.goto(`http://127.0.0.1:${server.address().port}/examples.html`);
  await picture(page, 'site-examples');
  await page.locator('a[href*="CupAndBall.mo"]').first().click();
  await page.waitForSelector('html[data-ready=yes]', {timeout: 120000});
  await page.locator('#run').click();
  await page.waitForFunction(() => /CupAndBall ended at t = 6/.test(document.getElementById('status').textContent), null, {timeout: 60000});
  await picture(page, 'site-example-run');
  assert(errors.length === 0, errors.join('\n'));
  console.log('ok    an example of the guide runs');
} catch (error) {
  console.error(`FAILED ${error.message}`);
  process.exitCode = 1;
}
server.close();
await chromium.close();
