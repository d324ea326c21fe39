// Puts the page together: node bundle.mjs MODULE FOLDER, where MODULE is the compiler as WebAssembly. See `build`.
import {build} from 'esbuild';
import {copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {brotliCompressSync, constants, gzipSync} from 'node:zlib';
import {engine} from './src/engine.js';

/** What the page may weigh when it is sent. */
const MOST = 2_000_000;
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

// What is sent: servers compress by brotli where the browser takes it, which all of them do over https, and by gzip elsewhere. Both are put
// beside each file, for servers that send files as they are.
const all = [0, 0];
for (const name of readdirSync(folder).sort()) {
  const file = path.join(folder, name), bytes = readFileSync(file);
  const packed = [gzipSync(bytes, {level: 9}), brotliCompressSync(bytes, {params: {
    [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length}})];
  writeFileSync(`${file}.gz`, packed[0]);
  writeFileSync(`${file}.br`, packed[1]);
  packed.forEach((one, at) => { all[at] += one.length; });
  console.log([statSync(file).size, ...packed.map(one => one.length)].map(size => String(size).padStart(9)).join(' ') + `  ${name}`);
}
console.log(`${' '.repeat(9)} ${all.map(size => String(size).padStart(9)).join(' ')}  as they are, by gzip, by brotli: ${folder}`);
if (all[1] > MOST) {
  console.error(`the playground is larger than ${MOST} bytes, compressed by brotli`);
  process.exit(1);
}

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
