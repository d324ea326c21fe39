// The guide as a site: node docs/site.mjs FOLDER writes the source of a book in which nothing leads out of it. Examples lead to the
// playground, texts of the repository that pages refer to become pages. See `.ci/site`.
import {cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..'), source = path.join(root, 'docs/src'), folder = path.resolve(process.argv[2]);
rmSync(folder, {recursive: true, force: true});
mkdirSync(folder, {recursive: true});
cpSync(source, path.join(folder, 'src'), {recursive: true});
cpSync(path.join(root, 'docs/book.toml'), path.join(folder, 'book.toml'));

const brought = new Map();
let played = 0;

/** A page with its links as they are on the site; `from` is the file it comes from, `to` its place in the book. */
function rewritten(text, from, to) {
  // Blocks of code are no text.
  return text.split(/(^```[^]*?^```)/m).map((part, at) => at % 2 ? part : part.replace(/\]\(([^)#\s]+)(#[^)\s]*)?\)/g, (whole, link, anchor = '') => {
    if (link.includes('://')) return whole;
    const target = path.resolve(path.dirname(from), link), inside = path.relative(root, target).replaceAll('\\', '/');
    const up = '../'.repeat(to.split('/').length - 1);
    if (inside.startsWith('docs/src/')) return `](${up}${inside.slice('docs/src/'.length)}${anchor})`;
    if (/^examples\/.*\.mo$/.test(inside) && existsSync(target)) {
      played++;
      return `](${up}playground/index.html#example=${encodeURIComponent(inside.slice('examples/'.length))})`;
    }
    if (inside.endsWith('.md') && existsSync(target)) {
      bring(inside);
      return `](${up}${placeOf(inside)}${anchor})`;
    }
    // Of a text that was brought along: what it leads to stays where it is.
    return brought.has(from) ? ']' : whole;
  })).join('').replace(/(?<!!)\[([^\][]+)\](?![([:])/g, (whole, words) => brought.has(from) ? words : whole);
}
/** Where a text of the repository is in the book, in which the name README has a meaning of its own. */
function placeOf(inside) {
  return `files/${inside.replace(/\/README\.md$/, '.md')}`;
}
function bring(inside) {
  const from = path.join(root, inside), to = placeOf(inside);
  if (brought.has(from)) return;
  brought.set(from, inside);
  const file = path.join(folder, 'src', to);
  mkdirSync(path.dirname(file), {recursive: true});
  writeFileSync(file, rewritten(readFileSync(from, 'utf8'), from, to));
}

for (const name of readdirSync(source, {recursive: true}).map(name => name.replaceAll('\\', '/')).filter(name => name.endsWith('.md'))) {
  const from = path.join(source, name);
  writeFileSync(path.join(folder, 'src', name), rewritten(readFileSync(from, 'utf8'), from, name));
}
const summary = path.join(folder, 'src/SUMMARY.md');
const title = inside => readFileSync(path.join(root, inside), 'utf8').match(/^# (.*)$/m)?.[1] ?? inside;
writeFileSync(summary, `${readFileSync(summary, 'utf8').trimEnd()}\n\n# From the repository\n\n`
  + [...brought.values()].sort().map(inside => `- [${title(inside)}](${placeOf(inside)})\n`).join(''));

// Nothing leads out, and everything leads somewhere.
const wrong = [];
for (const name of readdirSync(path.join(folder, 'src'), {recursive: true}).filter(name => name.endsWith('.md'))) {
  const file = path.join(folder, 'src', name), text = readFileSync(file, 'utf8').replace(/^```[^]*?^```/gm, '');
  for (const [, link] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)\s]*)?\)/g)) {
    if (link.includes('://') || /(^|\/)playground\/index\.html$/.test(link)) continue;
    const target = path.resolve(path.dirname(file), link);
    if (!target.startsWith(path.join(folder, 'src')) || !existsSync(target)) wrong.push(`${name}: ${link}`);
  }
}
if (wrong.length) {
  console.error(`links that lead out of the site or nowhere:\n${wrong.join('\n')}`);
  process.exit(1);
}
console.log(`${played} links to the playground, ${brought.size} texts brought along: ${folder}`);
