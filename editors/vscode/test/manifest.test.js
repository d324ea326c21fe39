// The manifest, the configuration and the grammar are valid and agree with the server and with the files beside them.
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');

const root = path.join(__dirname, '..');
const read = (name) => JSON.parse(fs.readFileSync(path.join(root, name), 'utf8'));
const manifest = read('package.json');
const grammar = read('syntaxes/modelica.tmLanguage.json');

test('what the manifest names is there', () => {
  for (const name of [manifest.main, manifest.contributes.languages[0].configuration, manifest.contributes.grammars[0].path]) {
    assert.ok(fs.existsSync(path.join(root, name)), name);
  }
  assert.strictEqual(manifest.contributes.grammars[0].scopeName, grammar.scopeName);
  const cargo = fs.readFileSync(path.join(root, '../../Cargo.toml'), 'utf8');
  assert.strictEqual(manifest.version, /version = "([^"]+)"/.exec(cargo)[1], 'the version of the program');
});

test('the settings are those of the server, with its defaults', () => {
  const source = fs.readFileSync(path.join(root, '../../crates/lsp/src/settings.rs'), 'utf8');
  const settings = manifest.contributes.configuration.properties;
  const known = ['path', 'libraries', 'codeLens', 'analysis', 'inlayHints.units', 'inlayHints.expressions', 'inlayHints.sizes', 'inlayHints.values', 'inlayHints.modes'];
  assert.deepStrictEqual(Object.keys(settings), known.map((name) => `saltus.${name}`));
  for (const name of known.filter((name) => name.startsWith('inlayHints.'))) {
    const field = name.split('.')[1];
    assert.strictEqual(settings[`saltus.${name}`].default, new RegExp(`^            ${field}: (true|false),`, 'm').exec(source)[1] === 'true', name);
  }
});

test('commands are registered, and those of the server are left to it', () => {
  const extension = fs.readFileSync(path.join(root, 'extension.js'), 'utf8');
  const server = fs.readFileSync(path.join(root, '../../crates/lsp/src/lens.rs'), 'utf8');
  for (const { command } of manifest.contributes.commands) {
    assert.ok(extension.includes(`register('${command}'`), command);
    assert.ok(!server.includes(`"${command}"`), `${command} is registered twice`);
  }
});

test('every pattern of the grammar is a regular expression, every include is there', () => {
  const visit = (value) => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (value === null || typeof value !== 'object') return;
    for (const key of ['match', 'begin', 'end']) {
      if (typeof value[key] === 'string') assert.doesNotThrow(() => new RegExp(value[key], 'u'), value[key]);
    }
    if (typeof value.include === 'string') assert.ok(grammar.repository[value.include.slice(1)], value.include);
    Object.values(value).forEach(visit);
  };
  visit(grammar);
  const configuration = read('language-configuration.json');
  new RegExp(configuration.wordPattern);
  const increase = new RegExp(configuration.indentationRules.increaseIndentPattern);
  const decrease = new RegExp(configuration.indentationRules.decreaseIndentPattern);
  for (const line of ['model M', 'partial model M "a text"', 'equation', '  if a > 1 then', 'else', 'for i in 1:2 loop', 'initial equation']) {
    assert.ok(increase.test(line), line);
  }
  for (const line of ['Real x;', 'type T = Real;', 'end M;', 'x = if a then b else c;', 'model M end M;']) assert.ok(!increase.test(line), line);
  for (const line of ['end M;', '  else', 'equation', 'elseif a then']) assert.ok(decrease.test(line), line);
});

test('pages hold no scripts', () => {
  const { page } = require('../view');
  const html = page('<M>', '<?xml version="1.0"?><svg><script>alert(1)</script></svg>', 'a < b');
  assert.ok(!/<script/i.test(html) && html.includes('&lt;M&gt;') && html.includes('a &lt; b') && html.includes("default-src 'none'"));
});

test('a file is tokenised', async (t) => {
  let textmate, oniguruma, wasm;
  try {
    textmate = require('vscode-textmate');
    oniguruma = require('vscode-oniguruma');
    wasm = fs.readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm'));
  } catch {
    t.skip('vscode-textmate is not installed: run `npm install` here');
    return;
  }
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(JSON.stringify(grammar), 'modelica.json'),
  });
  const loaded = await registry.loadGrammar('source.modelica');
  const scopes = (line) => {
    const { tokens } = loaded.tokenizeLine(line, textmate.INITIAL);
    return tokens.map((token) => [line.slice(token.startIndex, token.endIndex), token.scopes[token.scopes.length - 1]]);
  };
  const has = (line, text, scope) => {
    const found = scopes(line);
    assert.ok(found.some(([t, s]) => t === text && s.startsWith(scope)), `${line}: ${JSON.stringify(found)}`);
  };
  has('partial model Clutch "two shafts"', 'Clutch', 'entity.name.type');
  has('partial model Clutch "two shafts"', 'partial', 'storage.modifier');
  has('  parameter Real k = 1.5e-3; // a comment', '1.5e-3', 'constant.numeric');
  has('  parameter Real k = 1.5e-3; // a comment', '// a comment', 'comment.line');
  has('  der(x) = if b then sin(time) else 0;', 'der', 'support.function');
  has('  der(x) = if b then sin(time) else 0;', 'time', 'variable.language');
  has('  String s = "a\\n";', '\\n', 'constant.character.escape');
  has("  Real 'a b';", "'a b'", 'variable.other.quoted');
  has('end if;', 'if', 'keyword.control');
  for (const name of fs.readdirSync(path.join(root, '../../examples')).filter((name) => name.endsWith('.mo'))) {
    let state = textmate.INITIAL;
    for (const line of fs.readFileSync(path.join(root, '../../examples', name), 'utf8').split('\n')) {
      const result = loaded.tokenizeLine(line, state);
      assert.ok(!result.tokens.some((token) => token.scopes.some((scope) => scope.startsWith('invalid'))), `${name}: ${line}`);
      state = result.ruleStack;
    }
    assert.strictEqual(state.depth, 1, `${name}: something is left open`);
  }
});
