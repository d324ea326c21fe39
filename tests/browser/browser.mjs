// What the tests of pages share: a browser, or the reason why there is none.
import {existsSync, mkdirSync, mkdtempSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {execFileSync} from 'node:child_process';

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

/** A browser, or nothing after having said why. */
export async function browser() {
  const executable = process.env.SALTUS_BROWSER ?? '/usr/bin/chromium';
  if (!existsSync(executable)) return skip(`${executable} is not installed`);
  let playwright;
  try {
    playwright = createRequire(import.meta.url)('playwright-core');
  } catch {
    return skip('playwright-core is not installed');
  }
  return playwright.chromium.launch({executablePath: executable, args: FLAGS});
}
function skip(why) {
  console.log(`skipped: ${why}; no page was opened in a browser`);
}

export const folder = mkdtempSync(path.join(tmpdir(), 'saltus-pages-'));
export const inside = name => path.join(folder, name);

/** Runs the program; `expected` is its exit status. */
export function saltus(program, args, expected = 0) {
  try {
    execFileSync(path.resolve(program), args, {cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8'});
    assert(expected === 0, `saltus ${args.join(' ')} succeeded`);
  } catch (error) {
    assert(error.status === expected, `saltus ${args.join(' ')}: ${error.status}\n${error.stderr ?? error}`);
  }
}

export function assert(truth, message) {
  if (!truth) throw new Error(message);
}
export function equal(found, expected, what) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  assert(a === b, `${what}: ${a} instead of ${b}`);
}

/** A result file as columns; fields without a value are NaN. */
export function csv(name) {
  const [head, ...rows] = readFileSync(inside(name), 'utf8').trimEnd().split('\n').map(fields);
  return new Map(head.map((column, at) => [column, rows.map(row => row[at] === '' ? NaN : Number(row[at]))]));
}
function fields(line) {
  const found = [];
  for (const [, quoted, plain] of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)) {
    found.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
  }
  return found;
}

/** Opens a page and watches it: anything loaded, any error, any dialog is a failure. */
export async function open(from, name, options = {}) {
  const context = await from.newContext({viewport: {width: 1280, height: 900}, ...options});
  const page = await context.newPage();
  const wrong = [];
  page.on('console', message => { if (['error', 'warning'].includes(message.type())) wrong.push(message.text()); });
  page.on('pageerror', error => wrong.push(String(error)));
  page.on('dialog', dialog => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', request => { if (!request.url().startsWith(`file://${inside(name)}`)) wrong.push(`loads ${request.url()}`); });
  await page.goto(`file://${inside(name)}`);
  if (options.javaScriptEnabled !== false) await page.waitForSelector('html[data-ready=yes]', {timeout: 120000});
  return {page, close: async () => { equal(wrong, [], `${name} is quiet`); await context.close(); }};
}

/** A picture for people to look at, if they ask for it. */
export async function picture(page, name, fullPage = false) {
  const to = process.env.SALTUS_SCREENSHOTS;
  if (!to) return;
  mkdirSync(to, {recursive: true});
  await page.screenshot({path: path.join(to, `${name}.png`), fullPage});
}
