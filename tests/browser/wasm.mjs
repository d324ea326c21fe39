// All examples in the WebAssembly module, compared with the program: node tests/browser/wasm.mjs PROGRAM
//
// The operations are the same and in the same order, so results are the same to the last bit, but for what the mathematical library
// of the platform computes: `sin`, `exp` and powers, those by which integrators choose their steps among them, may differ in their last
// bit (`docs/src/playground.md`). Such results must agree within a millionth of the range of each variable, with the same modes in
// the same order. Kernels that become modules of their own change nothing: with and without them, results are the same bits.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {performance} from 'node:perf_hooks';
import {engine} from '../../playground/src/engine.js';

const program = path.resolve(process.argv[2] ?? 'target/debug/saltus');
const root = path.resolve(import.meta.dirname, '../..');
const file = path.join(root, 'target/playground/saltus.wasm');
if (!existsSync(file)) {
  console.log('skipped: the playground is not built (playground/build); no example was run in WebAssembly');
  process.exit(0);
}
const folder = mkdtempSync(path.join(tmpdir(), 'saltus-wasm-'));
const module = await WebAssembly.compile(readFileSync(file));
const quiet = {due: () => false, picture() {}};
let made = 0;
const ask = await engine(module, {...quiet, made: count => { made += count; }});
// The register machine alone.
const plain = await engine(module, {...quiet, kernels: false});

/** Runs the program; its status. */
function saltus(...args) {
  try {
    execFileSync(program, args, {cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8'});
    return 0;
  } catch (error) {
    return error.status;
  }
}
/** The modes of a result, in order. */
function modes(csv) {
  const [head, ...rows] = csv.trimEnd().split('\n'), at = head.split(',').findIndex(name => name.includes('mode'));
  return rows.map(row => row.split(',')[at]).filter((mode, i, all) => mode !== all[i - 1]).join(' ');
}

// Where the last bit decides which steps are taken, more of it is left, up to what the integrator's own tolerance allows: of explicit steps
// at the edge of their stability, and of derivatives of states beside an event.
const EDGE = {'electrical/BridgeByComplementarity.mo': '1e-2', 'electrical/RcLadder.mo': '1e-4', 'thermal/HeatEquation.mo': '1e-2'};

let failed = 0, same = 0, times = [0, 0];
const examples = readdirSync(path.join(root, 'examples'), {recursive: true}).filter(name => name.endsWith('.mo')).sort();
for (const name of examples) {
  const text = readFileSync(path.join(root, 'examples', name), 'utf8');
  try {
    const began = performance.now();
    const answer = ask({ask: 'simulate', name: path.basename(name), text});
    const between = performance.now();
    const status = saltus('simulate', path.join(root, 'examples', name), '-o', 'native.csv', '--quiet');
    times = [times[0] + between - began, times[1] + performance.now() - between];
    const expected = answer.end === 'done' ? 0 : answer.end === 'failed' ? 3 : 1;
    if (status !== expected) throw new Error(`the program has status ${status}, the module says ${answer.end}: ${JSON.stringify(answer.messages)}`);
    if (!answer.page) throw new Error('there is no page');
    plain({ask: 'simulate', name: path.basename(name), text});
    if (plain({ask: 'csv'}) !== ask({ask: 'csv'})) throw new Error('the results are others where kernels are modules');
    const [found, native] = [ask({ask: 'csv'}), readFileSync(path.join(folder, 'native.csv'), 'utf8')];
    if (found === native) {
      same++;
      continue;
    }
    // Under names without the file of metadata beside them: rows are compared, nothing else.
    writeFileSync(path.join(folder, 'reference.csv'), native);
    writeFileSync(path.join(folder, 'found.csv'), found);
    if (modes(found) !== modes(native)) throw new Error(`other modes: ${modes(found)} instead of ${modes(native)}`);
    const agree = saltus('compare', 'reference.csv', 'found.csv', '--tolerance', EDGE[name] ?? '1e-6', '--absolute', '1e-9');
    if (agree !== 0) throw new Error('the results differ by more than they should');
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}\n${error.message}`);
  }
}
if (made < 100) {
  failed++;
  console.log(`FAILED only ${made} functions were made of kernels`);
}
console.log(`${examples.length} examples in WebAssembly: ${same} the same to the last bit, ${examples.length - same - failed} close, ${failed} failed; `
  + `${(times[0] / 1000).toFixed(1)} s, the program with its start ${(times[1] / 1000).toFixed(1)} s; ${made} functions made of kernels`);
process.exit(failed || same < 20 ? 1 : 0);
