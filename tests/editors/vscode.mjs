// Visual Studio Code itself, in a browser: node tests/editors/vscode.mjs ADDRESS FOLDER [PICTURES]
//
// ADDRESS is that of a code-server that has the extension and whose folder FOLDER holds CupAndBall.mo of the examples; PICTURES a folder for
// screenshots. By hand, not in `.ci/run`: code-server needs a node of its own (24) and half a minute to start.
//
//   editors/vscode/package linux-x64 target/release/saltus
//   npm install code-server --ignore-scripts && (cd node_modules/code-server/lib/vscode && npm install --omit=dev --ignore-scripts)
//   code-server --install-extension editors/vscode/saltus-linux-x64.vsix
//   code-server --auth none --bind-addr 127.0.0.1:8123 --disable-workspace-trust FOLDER
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {chromium} from 'playwright-core';

const [address, folder, pictures] = process.argv.slice(2);
const file = path.join(folder, 'CupAndBall.mo');
const browser = await chromium.launch({executablePath: process.env.SALTUS_BROWSER ?? '/usr/bin/chromium', args: ['--no-sandbox']});
const page = await browser.newPage({viewport: {width: 1800, height: 950}});
page.setDefaultTimeout(60000);
const picture = name => pictures ? page.screenshot({path: path.join(pictures, `${name}.png`)}) : undefined;
const lens = text => page.locator(`.codelens-decoration a:has-text("${text}")`).first();
const command = async name => {
  await page.keyboard.press('F1');
  await page.keyboard.type(name);
  await page.locator(`.quick-input-list .monaco-list-row:has-text("${name}")`).first().click();
};
/** The frame inside of the frames of a view in which `selector` is. */
async function view(selector) {
  for (let tries = 0; tries < 300; tries++) {
    for (const frame of page.frames()) {
      if (await frame.locator(selector).count().catch(() => 0)) return frame;
    }
    await page.waitForTimeout(200);
  }
  throw new Error(`no view shows ${selector}`);
}

try {
  await page.goto(`${address}/?folder=${folder}`);
  await page.locator('.explorer-folders-view >> text=CupAndBall.mo').first().dblclick();

  // Newer versions have a second side bar, which would leave no room for text, and a map beside it.
  const side = page.locator('.part.auxiliarybar');
  await page.locator('.view-line').first().waitFor();
  if (await side.isVisible().catch(() => false)) await command('View: Toggle Secondary Side Bar Visibility');

  // What the modes are, above the model.
  await lens('Analyze (2 modes').waitFor();
  await picture('lens');

  // A run is the interactive report, whose scripts run under its own policy.
  await lens('Simulate').click();
  const report = await view('html[data-ready=yes] #plots canvas');
  assert.ok(await report.locator('#events tr').count() > 5, 'the report has its events');
  assert.equal(await report.locator('h1').innerText(), 'CupAndBall');
  await picture('report');

  // Modes as a graph and in words.
  await lens('Analyze').click();
  const graph = await view('.picture svg');
  assert.match(await graph.locator('pre').innerText(), /index 3/);
  await picture('modes');

  // A mistake is found while one types, at its line, and goes with it.
  await page.locator('.tab:has-text("CupAndBall.mo")').first().click();
  await page.locator('.view-line:has-text("der(x) = vx;")').first().click({position: {x: 40, y: 5}});
  await page.keyboard.press('End');
  await page.keyboard.type(' der(y) = vyy;');
  await page.locator('.squiggly-error').first().waitFor();
  await command('View: Toggle Problems');
  await page.locator('.markers-panel >> text=/vyy/').first().waitFor();
  await picture('mistake');
  await command('View: Toggle Problems');
  await command('View: Close Editors in Other Groups');
  await page.locator('.view-line:has-text("vyy")').first().click({position: {x: 40, y: 5}});
  await page.keyboard.press('End');
  for (let i = 0; i < ' der(y) = vyy;'.length; i++) await page.keyboard.press('Backspace');
  await page.locator('.squiggly-error').first().waitFor({state: 'detached'});

  // What the pointer is on.
  await page.locator('.view-line:has-text("Real lambda") >> text=lambda').first().click();
  await command('Show or Focus Hover');
  await page.locator('.monaco-hover >> text=/mpulsive/').first().waitFor();
  await picture('hover');

  // Renamed, where the cursor still is, and written.
  await page.keyboard.press('Escape');
  await page.keyboard.press('F2');
  await page.locator('.rename-box input').fill('tension');
  await page.keyboard.press('Enter');
  await page.locator('.view-line:has-text("der(vx) = tension*x")').first().waitFor();
  await page.keyboard.press('Control+S');
  for (let tries = 0; !readFileSync(file, 'utf8').includes('der(vx) = tension*x') && tries < 100; tries++) await page.waitForTimeout(100);
  assert.match(readFileSync(file, 'utf8'), /der\(vx\) = tension\*x/);
  console.log('Visual Studio Code: lenses, report, modes, a mistake, hover, renamed and written');
} catch (error) {
  await picture('failed');
  console.log(`FAILED ${error.message}`);
  process.exitCode = 1;
}
await browser.close();
