// Puts the page together: node bundle.mjs MODULE FOLDER, where MODULE is the compiler as WebAssembly. See `build`.
import {build} from 'esbuild';
import {copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {gzipSync} from 'node:zlib';
import {engine} from './src/engine.js';

const [module, folder] = process.argv.slice(2), here = import.meta.dirname;
rmSync(folder, {recursive: true, force: true});
mkdirSync(folder, {recursive: true});

await build({
  entryPoints: ['main.js', 'worker.js'].map(name => path.join(here, 'src', name)),
  outdir: folder, bundle: true, format: 'esm', target: 'es2022', minify: true, legalComments: 'eof', logLevel: 'warning',
});
copyFileSync(path.join(here, 'src/page.css'), path.join(folder, 'page.css'));
copyFileSync(module, path.join(folder, 'saltus.wasm'));
writeFileSync(path.join(folder, 'licences.txt'), licences());

// The page hands its policy on to the reports inside, so it allows their scripts: the module knows which those are.
const ask = await engine(await WebAssembly.compile(readFileSync(module)));
const reports = ask({ask: 'policy'});
const policy = ["default-src 'none'", `script-src 'self' 'wasm-unsafe-eval' ${reports.scripts.join(' ')}`,
  // The editor gives single elements styles; they cannot come from elsewhere, since the page takes no markup.
  `style-src 'self' ${reports.styles.join(' ')}`, "style-src-attr 'unsafe-inline'", "img-src data: blob:", "connect-src 'self'", "worker-src 'self'", "base-uri 'none'",
  "form-action 'none'", "require-trusted-types-for 'script'", 'trusted-types playground'].join('; ');
writeFileSync(path.join(folder, 'index.html'), readFileSync(path.join(here, 'src/index.html'), 'utf8').replace('POLICY', policy));

const root = path.resolve(here, '../examples');
const examples = readdirSync(root, {recursive: true}).map(name => name.replaceAll('\\', '/')).filter(name => name.endsWith('.mo')).sort();
writeFileSync(path.join(folder, 'examples.json'), JSON.stringify(examples.map(name => ({path: name, text: readFileSync(path.join(root, name), 'utf8')}))));

let all = 0;
for (const name of readdirSync(folder).sort()) {
  const size = gzipSync(readFileSync(path.join(folder, name)), {level: 9}).length;
  all += size;
  console.log(`${String(statSync(path.join(folder, name)).size).padStart(9)} ${String(size).padStart(9)} compressed  ${name}`);
}
console.log(`${' '.repeat(9)} ${String(all).padStart(9)} compressed  in all: ${folder}`);

/** The licences of what is bundled. */
function licences() {
  const lock = JSON.parse(readFileSync(path.join(here, 'package-lock.json'), 'utf8')).packages;
  const bundled = Object.keys(lock).filter(name => /^node_modules\/(@codemirror|@lezer|@marijn|style-mod|w3c-keyname|crelt)/.test(name)).sort();
  const text = name => {
    const file = readdirSync(path.join(here, name)).find(file => /^licen[cs]e/i.test(file));
    return file ? readFileSync(path.join(here, name, file), 'utf8').trim() : `${lock[name].license}`;
  };
  return bundled.map(name => `${name.replace('node_modules/', '')} ${lock[name].version}\n\n${text(name)}\n`).join('\n---\n\n');
}
