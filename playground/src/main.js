// The page. Models, names and messages are strangers' words: they are only ever shown as text, as a picture inside an image, or in a
// report, which brings a policy of its own and sits in a frame without access to this page.
import {editor} from './editor.js';
import {Helper, trustedReport} from './helper.js';
import {pack, unpack} from './share.js';

const find = id => document.getElementById(id);
const el = (tag, props, ...children) => {
  const node = Object.assign(document.createElement(tag), props);
  node.append(...children);
  return node;
};
const FIRST = 'MotorAndLoad.mo';

const module = compile('saltus.wasm');
async function compile(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the compiler cannot be loaded: ${response.status}`);
  // Not every server knows the type of the file, without which it cannot be compiled while it arrives.
  if (response.headers.get('content-type') === 'application/wasm') return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}
const helper = new Helper(module), runner = new Helper(module);

function status(text, isError = false) {
  const node = find('status');
  node.textContent = text;
  node.classList.toggle('error', isError);
}
function show(...nodes) {
  for (const image of find('view').querySelectorAll('img')) URL.revokeObjectURL(image.src);
  find('view').replaceChildren(...nodes);
}
function image(svg, alt) {
  return el('img', {src: URL.createObjectURL(new Blob([svg], {type: 'image/svg+xml'})), alt});
}
/** Shows pictures of a run as fast as the page can draw them; those that come while one is drawn are left out. */
function film() {
  let isDrawing = false, isOver = false;
  return {
    async show(svg) {
      if (isDrawing || isOver) return;
      isDrawing = true;
      const next = image(svg, 'The run so far');
      const drawn = await next.decode().then(() => true, () => false);
      isDrawing = false;
      if (drawn && !isOver) show(next); else URL.revokeObjectURL(next.src);
    },
    end() { isOver = true; },
  };
}
function messages(list) {
  find('messages').replaceChildren(...list.map(({severity, text}) => el('pre', {className: severity, textContent: text})));
}

// ---- problems ------------------------------------------------------------------------------------------------------------

const order = {error: 0, warning: 1};
function problems(found) {
  const sorted = found.filter(({severity}) => severity in order).sort((a, b) => order[a.severity] - order[b.severity]);
  find('problems').replaceChildren(...sorted.map(({severity, message, line}) => {
    const button = el('button', {textContent: (line ? `${line}: ` : '') + message});
    button.onclick = () => edit.goTo(line);
    return el('li', {className: severity}, button);
  }));
}

let fromOutside = false;
const edit = editor(find('editor'), helper, {
  // What is edited is no longer what the address and the list of examples say.
  changed() {
    if (fromOutside) return;
    find('examples').value = '';
    if (location.hash) history.replaceState(null, '', location.pathname + location.search);
  },
  found: problems,
  run,
});

// ---- runs ----------------------------------------------------------------------------------------------------------------

let running = null;
function busy(what) {
  running = what;
  find('run').disabled = find('analyze').disabled = !!what;
  find('stop').disabled = !what;
}
function stopTime() {
  const text = find('until').value.trim().replace(',', '.');
  if (!text) return null;
  const time = Number(text);
  if (!Number.isFinite(time)) throw new Error(`“${text}” is no time`);
  return time;
}
/** Does one thing in the worker for runs, which may be ended at any time. */
async function inRunner(what, work) {
  if (running) return;
  const began = performance.now();
  busy(what);
  find('csv').disabled = true;
  try {
    await module;
    await work(() => `${((performance.now() - began) / 1000).toFixed(2)} s`);
  } catch (error) {
    status(error.message, true);
  } finally {
    busy(null);
  }
}
function run() {
  return inRunner('run', async took => {
    status('Running …');
    messages([]);
    const question = {ask: 'simulate', name: 'Model.mo', text: edit.text(), stop: stopTime(), solver: find('solver').value || null};
    const pictures = film();
    const answer = await runner.ask(question, (svg, time) => {
      status(`Running … t = ${Number(time.toPrecision(6))}`);
      pictures.show(svg);
    }).finally(() => pictures.end());
    // The report has warnings of its own.
    messages(answer.messages.filter(({severity}) => !answer.page || severity === 'error'));
    if (!answer.page) {
      show();
      return status('There is nothing to run: see the messages.', true);
    }
    const frame = el('iframe', {title: 'Report of the run'});
    // Scripts of the report run, but it is no part of this page and can reach nothing.
    frame.setAttribute('sandbox', 'allow-scripts');
    frame.srcdoc = trustedReport(answer.page);
    show(frame);
    find('csv').disabled = false;
    const count = (n, what) => `${n} ${what}${n === 1 ? '' : 's'}`;
    const how = answer.end === 'done' ? 'ended' : 'failed';
    status(`${answer.model} ${how} at t = ${Number(answer.time.toPrecision(6))}: ${count(answer.steps, 'step')}, ${count(answer.events, 'event')}, `
      + `${count(answer.modes, 'mode')}, ${took()}`, answer.end !== 'done');
  });
}
function analyze() {
  return inRunner('analysis', async took => {
    status('Looking at the modes …');
    messages([]);
    const answer = await runner.ask({ask: 'analyze', name: 'Model.mo', text: edit.text()});
    messages(answer.messages);
    if (!answer.text) {
      show();
      return status('There is nothing to look at: see the messages.', true);
    }
    show(image(answer.svg, 'Modes and the changes between them'), el('pre', {textContent: answer.text}));
    status(`Modes of ${answer.model}, ${took()}`);
  });
}
find('run').onclick = run;
find('analyze').onclick = analyze;
find('stop').onclick = () => runner.end('Stopped.');
find('format').onclick = () => edit.format().catch(error => status(error.message, true));
find('csv').onclick = async () => {
  const text = await runner.ask({ask: 'csv'});
  const link = el('a', {href: URL.createObjectURL(new Blob([text], {type: 'text/csv'})), download: 'result.csv'});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};

// ---- models --------------------------------------------------------------------------------------------------------------

function replace(text) {
  fromOutside = true;
  edit.show(text);
  fromOutside = false;
}
const examples = fetch('examples.json').then(response => response.json());
async function fill() {
  const folders = new Map();
  for (const {path} of await examples) {
    const [folder, name] = path.includes('/') ? path.split('/') : ['', path];
    if (!folders.has(folder)) folders.set(folder, []);
    folders.get(folder).push(el('option', {value: path, textContent: name.replace(/\.mo$/, '')}));
  }
  for (const [folder, options] of folders) {
    if (folder) find('examples').append(el('optgroup', {label: folder}, ...options));
    else find('examples').append(...options);
  }
}
async function example(path) {
  const found = (await examples).find(one => one.path === path);
  if (!found) throw new Error(`there is no example ${path}`);
  replace(found.text);
  find('examples').value = path;
}
find('examples').onchange = async ({target}) => {
  if (!target.value) return;
  if (running) runner.end('Stopped.');
  await example(target.value);
  find('until').value = '';
  show();
  messages([]);
  history.replaceState(null, '', `#example=${encodeURIComponent(target.value)}`);
  status('');
};
find('share').onclick = async () => {
  const address = new URL(location.href);
  address.hash = `model=${await pack(edit.text())}`;
  history.replaceState(null, '', address);
  try {
    await navigator.clipboard.writeText(address.href);
    status('The address of this model was copied. It holds the model itself: nothing was sent anywhere.');
  } catch {
    status('The address of this page holds the model now: copy it from the address bar.');
  }
};
async function fromAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  try {
    if (asked.has('model')) return replace(await unpack(asked.get('model')));
    if (asked.has('example')) return await example(asked.get('example'));
  } catch (error) {
    status(`The address holds no model: ${error.message}`, true);
  }
  await example(FIRST);
}
addEventListener('hashchange', fromAddress);

await fill();
await fromAddress();
try {
  await module;
  if (!find('status').classList.contains('error')) status('Ready: Ctrl+Enter runs the model.');
} catch (error) {
  status(error.message, true);
}
document.documentElement.dataset.ready = 'yes';
